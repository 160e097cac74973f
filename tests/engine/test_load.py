"""A wrong rule file is refused with every fault named, each with file and line."""

from __future__ import annotations

import copy
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.engine.load import load
from analyzer.errors import RuleError

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
confidence: {{base: 0.5}}
summary: "{{subject}} was killed at step {{life.step}}"
cases:
  - name: yes
    origin: here
    given: {{exit_codes.txt: "worker-0 -9"}}
    expect: {{fires: true}}
  - name: no
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


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("when: killed", "whem: killed", 14, "`whem` is not known here"),
        ("title: A worker", "id: again\ntitle: A worker", 2, "`id` is given twice"),
        ("table: lifetimes", "table: lives", 6, "`lives` is no table"),
        ("{signal: 9}", "{sygnal: 9}", 8, "`sygnal` of lifetimes is no column"),
        ("{signal: 9}", "{signal: nine}", 8, "holds int, not `nine`"),
        ("{signal: 9}", "{signal: {over: 9}}", 8, "cannot be tested with `over`"),
        ("of: subject", "of: object", 9, "`object` is none of"),
        ('any_of: ["Killed"]', 'any_of: ["Kil"]', 12, "four characters"),
        ("21127 Killed", "21127 Dead", 13, "the example holds none of"),
        ("killed and not said", "killed and said and done", 14, "`done` is no signal"),
        ("killed and not said", "killed and (not said", 14, "not closed"),
        ("cause: peer.killed", "cause: peer.eaten", 4, "`peer.eaten` is no cause"),
        ("{life.step}", "{life.stop}", 1, "names no column"),
        ("fires: false", "fires: true", 18, "one that stays quiet"),
        ("title: A worker was killed", "title: !!python/name:os.system A", 2, "is not allowed"),
        ("title: A worker was killed", "title: [a", 3, "expected"),
    ],
)
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
    """Nobody mends one file only to learn of the next."""
    (tmp_path / "yours.yaml").write_text(RIGHT.format(id="other"), encoding="utf-8")
    faults = refused(
        tmp_path, RIGHT.format(id="mine").replace("of: subject", "of: object").replace("base: 0.5", "bass: 1")
    )
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
    assert "lies outside the run" in faults[0]


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


def test_a_value_of_any_shape_anywhere_is_a_fault_or_taken(tmp_path: Path) -> None:
    """Never a traceback of ours."""
    right = yaml.safe_load(RIGHT.format(id="mine"))
    (tmp_path / "causes.yaml").write_text(CAUSES, encoding="utf-8")
    for path in places(right):
        for value in WRONG:
            text = yaml.safe_dump(changed(right, path, value), sort_keys=False)
            (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
            with suppress(RuleError):
                load([tmp_path])


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
