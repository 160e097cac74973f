"""Files of messages: what is wrong with one is said with file and line; what a user adds is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from yaml import safe_load

from analyzer.discover import discover
from analyzer.engine.loading.load import load
from analyzer.engine.loading.schemas import file_schema
from analyzer.model.errors import RuleError
from analyzer.pipeline import load_tables
from analyzer.storage.package_files import resource

FILE = """\
program: mesh
family: calls that its side-car could not make
messages:
  upstream:
    states: reason
    as: transport
    any_of: upstream connect error
    versions: any
    example: "upstream connect error or disconnect/reset before headers"
    source: https://www.envoyproxy.io/docs
  dead-member:
    states: peer
    as: down
    any_of: "member gone: "
    regex: "member gone: {task}"
    versions: 1.2+
    example: "member gone: /job:worker/replica:0/task:3"
    source: https://mesh.example/docs
"""


def write(folder: Path, text: str) -> Path:
    """A directory of rules that holds one file of messages."""
    (folder / "mine" / "messages").mkdir(parents=True)
    (folder / "mine" / "messages" / "mesh-calls.yaml").write_text(text)
    return folder / "mine"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("as: transport", "as: shrug", 6, "`as` of a message that states `reason` is one of"),
        ("states: peer", "states: blame", 12, "`blame` is no statement"),
        ("as: down", "as: down\n    colour: red", 14, "`colour` is no key of a message"),
        ("versions: 1.2+", "versions: lately", 16, "`lately` is no `any`, `2.8`"),
        ("task:3", "task 3", 17, "the example is not matched by `regex`"),
        ('"member gone: {task}"', '"member gone: ({task}"', 15, "invalid regex: "),
        ('"upstream connect error or', '"upstream error or', 9, "the example holds none of `any_of`"),
        ("    source: https://www.envoyproxy.io/docs\n", "", 4, "`source` is missing"),
        ("program: mesh\n", "", 1, "`program` is missing"),
    ],
)
def test_a_fault_is_told_with_its_line(old: str, new: str, line: int, what: str, tmp_path: Path) -> None:
    """Loading fails, for all that is wrong."""
    with pytest.raises(RuleError) as caught:
        load([write(tmp_path, FILE.replace(old, new))])
    assert str(caught.value).startswith(f"mine/messages/mesh-calls.yaml:{line}: {what}")


@pytest.mark.runs
def test_the_wording_of_a_users_own_program_names_a_peer(tmp_path: Path) -> None:
    """A new dialect is a file."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "worker-0.log").write_text(
        "step 3 loss 0.5\nERROR:mesh:member gone: /job:worker/replica:0/task:3\n"
    )
    named = {}
    for folders in ([], [write(tmp_path, FILE)]):
        tables = load_tables(discover([run]), load(folders))
        named[len(folders)] = tables["accusations"].select("worker", "kind").rows()
    assert named == {0: [], 1: [("worker:3", "down")]}


@pytest.mark.parametrize(
    "file", sorted(resource("rules", "messages").glob("*.yaml")), ids=lambda file: file.stem
)
def test_every_file_fits_the_schema_that_editors_use(file: Path) -> None:
    """What `load` accepts, an editor does not mark."""
    faults = Draft202012Validator(file_schema("message")).iter_errors(safe_load(file.read_text()))
    assert [fault.message for fault in faults] == []
