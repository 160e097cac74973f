"""A wrong rule file is refused with every fault named, each with file and line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from analyzer.diagnose import diagnose
from analyzer.engine import RulePack
from analyzer.engine.authoring.cases import difference
from analyzer.engine.evaluate import match
from analyzer.engine.expressions import Expression
from analyzer.engine.loading.load import load
from analyzer.model.contract import MadeWith
from analyzer.model.errors import RuleError
from analyzer.model.findings import Outcome
from analyzer.model.run import Tables
from tests.recordings import ROOT

TablesOf = Callable[[Mapping[str, str]], Tables]
CONTRACT = json.loads((ROOT / "reports" / "diagnosis.schema.json").read_text(encoding="utf-8"))
MADE_WITH: MadeWith = {"mwms_analyze": "0", "rules": 2, "rules_digest": "0", "options": {}}
RUN = {"exit_codes.txt": "worker-0 -9\nworker-1 0\n", "worker-1.log": "step 1 loss 0.5\n"}

CAUSES = 'peer.killed: {means: "a worker was killed"}\n'
RIGHT = """\
id: {id}
title: A worker was killed
role: cause
cause: peer.killed
signals:
  killed:
    table: lifetimes
    where: {{signal: 9}}
    of: subject
  said:
    log:
      any_of: ["Killed"]
      example: "line 3: 21127 Killed python train.py"
when: killed and not said
blame: subject
confidence: {{base: possible}}
summary: "{{subject}} was killed at step {{life.step}}"
cases:
  - name: killed
    origin: here
    given: {{exit_codes.txt: "worker-0 -9"}}
    expect: {{fires: true}}
  - name: left
    origin: here
    given: {{exit_codes.txt: "worker-0 0"}}
    expect: {{fires: false}}
"""


def refused(folder: Path, text: str) -> list[str]:
    """The faults that are reported for one rule file."""
    (folder / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as raised:
        load([folder])
    return str(raised.value).splitlines()


def test_a_right_rule_is_taken(tmp_path: Path) -> None:
    """The template of the tests below has no fault of its own."""
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RIGHT.format(id="mine"), encoding="utf-8")
    assert [rule.id for rule in load([tmp_path]).rules] == ["mine"]


NESTED = [
    ("when: killed and not said", f"when: {'(' * 9_000}killed", 14),
    ("{signal: 9}", "[" * 2_000 + "]" * 2_000, 1),
]
FAULTS = [
    *yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8")),
    *((right, wrong, line, "nested too deeply") for right, wrong, line in NESTED),
]


@pytest.mark.parametrize(("right", "wrong", "line", "says"), FAULTS)
def test_a_fault_is_named_with_file_and_line(
    right: str, wrong: str, line: int, says: str, tmp_path: Path
) -> None:
    """So that it can be mended without reading our code."""
    text = RIGHT.format(id="mine")
    assert right in text
    faults = refused(
        tmp_path, text.replace(right, wrong, 1) if right != "fires: false" else text.replace(right, wrong)
    )
    assert any(says in fault for fault in faults), faults
    assert any(fault.startswith(f"{tmp_path.name}/mine.yaml:{line}:") for fault in faults), faults


def test_all_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    """In the order of lines; nobody mends one file only to learn of the next."""
    (tmp_path / "yours.yaml").write_text(RIGHT.format(id="other"), encoding="utf-8")
    wrong = RIGHT.format(id="mine").replace("of: subject", "of: object").replace("title:", "titel:")
    faults = refused(tmp_path, wrong.replace("base: possible", "bass: weak"))
    places = [(file, int(line)) for file, line, _ in (fault.split(":", 2) for fault in faults)]
    assert places == sorted(places)
    assert {fault.split(":")[0] for fault in faults} == {
        f"{tmp_path.name}/mine.yaml",
        f"{tmp_path.name}/yours.yaml",
    }
    assert len(faults) >= 3


def test_what_a_draft_leaves_to_its_author_is_a_fault(tmp_path: Path) -> None:
    """A text that still reads TODO, in a list too."""
    text = RIGHT.format(id="mine").replace("A worker was killed", "TODO say it") + "why: [TODO say why]\n"
    faults = refused(tmp_path, text)
    assert [fault.split("`")[1] for fault in faults] == ["title", "why"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../beside.log", "a/../../b.log"])
def test_a_case_writes_only_into_its_own_run(name: str, tmp_path: Path) -> None:
    """Rules come from other people too."""
    faults = refused(tmp_path, RIGHT.format(id="mine").replace("exit_codes.txt: ", f'"{name}": '))
    assert "is no path inside the run" in faults[0]


WRONG: tuple[object, ...] = (
    None,
    3,
    True,
    "text",
    ["a"],
    [["a"]],
    {"a": "b"},
    {"a": ["b"]},
    [],
    {},
    [{"a": 1}],
)


def test_a_value_of_any_shape_anywhere_is_a_fault_or_taken(tmp_path: Path, tables_of: TablesOf) -> None:
    """Never a traceback of ours; and a rule that is taken can be followed."""
    right = yaml.safe_load(RIGHT.format(id="mine"))
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    tables = tables_of(RUN)
    for path in places(right):
        for value in WRONG:
            text = yaml.safe_dump(changed(right, path, value), sort_keys=False)
            (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
            with suppress(RuleError):
                assert followed(load([tmp_path]), tables) == set()


@pytest.mark.parametrize("when", ["not killed", "not (killed or said)"])
def test_a_rule_may_ask_for_absences_alone(when: str, tmp_path: Path, tables_of: TablesOf) -> None:
    """It fires for whom they hold, and is quiet for everyone else."""
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    text = RIGHT.format(id="mine").replace("killed and not said", when)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    (alive,) = match(load([tmp_path]), tables_of(RUN))
    assert (alive.outcome, alive.culprits) == (Outcome.FIRED, ("worker:1",))
    (dead,) = match(load([tmp_path]), tables_of({"exit_codes.txt": "worker-0 -9\nworker-1 -9\n"}))
    assert dead.outcome is Outcome.QUIET


def test_what_refutes_a_rule_keeps_it_quiet(tmp_path: Path, tables_of: TablesOf) -> None:
    """And the reason names it, though all that the rule asks for is there."""
    well = "  well: {table: lifetimes, where: {exit_code: 0}}\nwhen: killed\nrefuted_by: [well]"
    text = RIGHT.format(id="mine").replace("when: killed and not said", well)
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    pack = load([tmp_path])
    (quiet,) = match(pack, tables_of(RUN))
    (fired,) = match(pack, tables_of({"exit_codes.txt": "worker-0 -9\n"}))
    assert (fired.outcome, quiet.outcome) == (Outcome.FIRED, Outcome.QUIET)
    assert quiet.reason == "refuted by: well"


def followed(pack: RulePack, tables: Tables) -> set[str]:
    """Why rules of a pack could not be followed."""
    return {finding.reason for finding in match(pack, tables) if finding.outcome is Outcome.ERROR}


def test_a_rule_that_cannot_be_followed_is_said_and_takes_no_other_with_it(
    tmp_path: Path, tables_of: TablesOf
) -> None:
    """A mistake of ours in one rule must not cost the diagnosis."""
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RIGHT.format(id="mine"), encoding="utf-8")
    pack = load([tmp_path])
    (rule,) = pack.rules
    wrong = rule._replace(id="wrong", when=Expression("signal", "nowhere"))
    right, error = match(pack._replace(rules=(rule, wrong)), tables_of(RUN))
    assert right.outcome is Outcome.FIRED
    assert (error.outcome, error.reason) == (Outcome.ERROR, "KeyError: 'nowhere'")
    assert difference(rule.cases[1], error) == "cannot be followed: KeyError: 'nowhere'"
    document = diagnose("run", [right, error], tables_of(RUN), MADE_WITH).document
    assert {each["rule"]: each["outcome"] for each in document["findings"]} == {
        "mine": "fired",
        "wrong": "error",
    }
    jsonschema.Draft202012Validator(CONTRACT).validate(document)


def places(value: object) -> list[list[str | int]]:
    """The path to everything inside a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, each in pairs for path in [[key], *([key, *rest] for rest in places(each))]]


def changed(value: Any, path: list[str | int], to: object) -> Any:
    """A copy with another thing at a place."""
    whole = inner = copy.deepcopy(value)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return whole
