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


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("when: killed", "whem: killed", 14, "`whem` is no key of a rule; did you mean `when`"),
        ("title: A worker", "id: again\ntitle: A worker", 2, "`id` is given twice"),
        ("table: lifetimes", "table: lives", 7, "`lives` is no table; did you mean"),
        ("{signal: 9}", "{sygnal: 9}", 8, "`sygnal` is no column of lifetimes; did you mean `signal`"),
        ("{signal: 9}", "{signal: nine}", 8, "is to be a whole number or a list or a mapping, not `nine`"),
        (
            "{signal: 9}",
            "{signal: {over: 9}}",
            8,
            "`over` is no test of a column of type int; did you mean `above`",
        ),
        ("of: subject", "of: object", 9, "`object` is no scope"),
        ('any_of: ["Killed"]', 'any_of: ["Kil"]', 12, "shorter than 4 characters"),
        ("21127 Killed", "21127 Dead", 13, "the example holds none of"),
        ("killed and not said", "killed and said and done", 14, "`done` is no signal of this rule"),
        ("killed and not said", "killed and (not said", 14, "not closed"),
        (
            "cause: peer.killed",
            "cause: peer.eaten",
            4,
            "`peer.eaten` is no cause that `mwms-rules causes` lists or a `causes.yaml` in this directory adds; ",
        ),
        ("when: killed and not said", "when: {all: [killed]}", 14, "`when` is to be a text: names of"),
        ("{life.step}", "{life.hostt}", 17, "`hostt` is no column of lifetimes (docs/tables.md lists"),
        ("{life.step}", "{said.stop}", 17, "`stop` is no column of matches and no group of its regex"),
        ('any_of: ["Killed"]', 'any_of: ["Killed"]\n      regex: "(Kil"', 13, "invalid regex: missing )"),
        (
            "of: subject",
            "of: subject\n    log: {any_of: Killed, example: Killed}",
            6,
            "takes `table` or `log`, and not two",
        ),
        (
            "{base: possible}",
            "0.8",
            16,
            "`confidence` is to be one of weak, possible, likely, strong, certain or a mapping, not `0.8`",
        ),
        (
            "blame: subject",
            "blame: subject\naction: {retry: no}",
            16,
            "`no`, which YAML reads as false, is no word for `retry`",
        ),
        (
            "title: A worker was killed",
            'title: "A worker was killed',
            2,
            "close the quotes: the text that begins here goes on to line 12",
        ),
        ("\nsummary:", "\n summary:", 17, "indent this line as its neighbours"),
        ("fires: false", "fires: true", 18, "one that stays quiet"),
        ("title: A worker was killed", "title: !!python/name:os.system A", 2, "is not allowed"),
        ("title: A worker was killed", "title: [a", 3, "expected"),
        ("{signal: 9}", "{signal: {contains: S}}", 8, "`contains` is no test of a column of type int"),
        ("{signal: 9}", "{sure: {matches: t}}", 8, "`matches` is no test of a column of type bool"),
        ("{signal: 9}", "{ended: {above: 1}}", 8, "`above` is no test of a column of type text"),
        ("{signal: 9}", "{ended: {contains: []}}", 8, "needs 1 or more entries, not 0"),
        ("{signal: 9}", "{signal: {at_least: [1, 2]}}", 8, "is to be a whole number, not `[1, 2]`"),
        ("{signal: 9}", "{signal: {known: 'no'}}", 8, "is to be true or false, not `no`"),
        ("{signal: 9}", "{ended: {matches: 3}}", 8, "`matches` is to be a text, not `3`"),
        (
            "{signal: 9}",
            "{ended: signl}",
            8,
            "`signl` is no value of `ended` of lifetimes; did you mean `signal`",
        ),
        ("{signal: 9}", "{ended: [signal, exit]}", 8, "`exit` is no value of `ended` of lifetimes"),
        ("{signal: 9}", "{ended: {not: [finishd]}}", 8, "`finishd` is no value of `ended` of lifetimes"),
        ("{signal: 9}", "{signal: {}}", 8, "needs 1 or more entries, not 0"),
        ("{signal: 9}", "{signal: 010}", 8, "`010` is no number as YAML spells it here"),
        ("{signal: 9}", "{signal: 12:30:45}", 8, "`12:30:45` is no number as YAML spells it here"),
        ("{signal: 9}", "{signal: .inf}", 8, "`.inf` is no number as YAML spells it here"),
        ("base: possible", "base: 0.5", 16, "`0.5` is no level of confidence; there are certain"),
        (
            "base: possible",
            "base: posible",
            16,
            "`posible` is no level of confidence; did you mean `possible`",
        ),
        (
            "base: possible",
            "base: weak, raise: {kiled: likely}",
            16,
            "`kiled` is no signal of this rule; did",
        ),
        (
            "of: subject",
            "of: subject\n    kind: absence",
            15,
            "rests on an absence, `killed`, and no `refuted_by`",
        ),
        (
            "blame: subject",
            "blame: subject\nrefuted_by: [sayd]",
            16,
            "`sayd` is no signal of this rule; did you mean",
        ),
        ("{signal: 9}", "{signal: {above: 9}}", 6, "compares with a number and gives no `basis`"),
        ("of: subject", "of: subject\n    at_least: 0", 10, "`0` is less than 1"),
        ("    log:\n", "    log: &log\n      levels: *log\n", 12, "an alias stands for a text"),
        ('any_of: ["Killed"]', 'any_of: ["Killed"]\n      levels: [[W]]', 13, "is no level"),
        ('any_of: ["Killed"]', "any_of: [Killed]\n      regex: (?P<worker>K)illed", 13, "group `worker`"),
        ('any_of: ["Killed"]', "any_of: [Killed]\n      regex: (?P<count>K)illed", 13, "group `count`"),
        (
            "blame: subject",
            "blame: subject\nexplains: [nosuchcause]",
            16,
            "`nosuchcause` is no rule and no cause",
        ),
        ("blame: subject", "blame: subject\nexplains: [mine, peer.*, pear.*]", 16, "`pear.*` is no rule"),
        (
            "blame: subject",
            "blame: subject\ndespite_finish: perhaps",
            16,
            "is to be true or false, not `perhaps`",
        ),
        ("    expect: {fires: true}", "    expect: {fires: true, culprits: [one]}", 22, "`one` is no worker"),
        ("when: killed and not said", "when: " + "(" * 9_000 + "killed", 14, "nested too deeply"),
        ("{signal: 9}", "[" * 2_000 + "]" * 2_000, 1, "nested too deeply"),
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
