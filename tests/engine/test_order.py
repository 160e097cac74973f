"""A signal can ask that its rows lie behind, or before, those of another, and how near."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.engine.evaluate import match
from analyzer.engine.loading.load import load
from analyzer.model.errors import RuleError
from analyzer.model.findings import Finding, Outcome
from analyzer.pipeline import load_tables
from tests.rules import our_rules

MESSAGES = our_rules().messages
MakeRun = Callable[[Mapping[str, str]], Path]

RULE = """\
id: mine
title: One thing came of another
role: context
signals:
  first:
    log: {{any_of: ["cable pulled"], example: "cable pulled"}}
    of: anyone
  second:
    log: {{any_of: ["link is dead"], example: "link is dead"}}
    of: subject
    basis: a test
    {order}
when: second
confidence: possible
summary: "{{second.line}}"
cases:
  - {{name: a, origin: a test, given: {{a.log: x}}, expect: {{fires: true}}}}
  - {{name: b, origin: near miss, given: {{a.log: x}}, expect: {{fires: false}}}}
"""
AT = "2026-11-21 01:{}: "


def found(text: str, run: Path, folder: Path) -> Finding:
    """What becomes of one rule on a run."""
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    pack = load([folder])._replace(messages=MESSAGES)
    (finding,) = match(pack, load_tables(discover([run]), pack))
    assert finding.outcome is not Outcome.ERROR
    return finding


def line(files: Mapping[str, str], order: str, make_run: MakeRun, folder: Path) -> str:
    """The line of the second thing that counts; empty where none does."""
    return found(RULE.format(order=order), make_run(files), folder).summary


@pytest.mark.runs
@pytest.mark.parametrize(
    ("order", "number"),
    [
        ("after: first", "3"),
        ("before: first", "1"),
        ("at_least: 2", "1"),
        ("after: first\n    within: {seconds: 30}", ""),
        ("after: first\n    within: {seconds: 90}", "3"),
    ],
)
def test_within_a_source_lines_tell(order: str, number: str, tmp_path: Path, make_run: MakeRun) -> None:
    """And times tell how near."""
    log = f"{AT.format('00:00')}link is dead\n{AT.format('01:00')}cable pulled\n{AT.format('02:00')}link is dead\n"
    assert line({"worker-0.log": log}, order, make_run, tmp_path) == number


def step(number: int, second: int) -> str:
    """A line of progress, a second a step."""
    return f"{AT.format(f'00:{second:02d}')}step {number} loss 0.{number}\n"


def worker(said: str, at: int, ahead: int = 0) -> str:
    """A log of ten steps, in which something is said at one second; its clock is ahead."""
    words = [(at, f"{AT.format(f'00:{at + ahead:02d}')}{said}\n")]
    steps = [(second, step(second, second + ahead)) for second in range(1, 11)]
    return "".join(text for _, text in sorted([*steps, *words]))


@pytest.mark.runs
@pytest.mark.parametrize("ahead", [0, 40])
@pytest.mark.parametrize(
    ("at", "order", "holds"), [(7, "after", True), (3, "after", False), (3, "before", True)]
)
def test_between_workers_the_common_clock_tells(
    at: int, order: str, holds: bool, ahead: int, tmp_path: Path, make_run: MakeRun
) -> None:
    """Whatever their own clocks say."""
    logs = {"worker-0.log": worker("cable pulled", 5), "worker-1.log": worker("link is dead", at, ahead)}
    assert bool(line(logs, f"{order}: first", make_run, tmp_path)) is holds


@pytest.mark.runs
def test_where_the_clocks_are_unknown_nothing_came_first(tmp_path: Path, make_run: MakeRun) -> None:
    """Two workers without a step in common."""
    logs = {
        "worker-0.log": f"{AT.format('00:05')}cable pulled\n",
        "worker-1.log": f"{AT.format('09:05')}link is dead\n",
    }
    assert line(logs, "after: first", make_run, tmp_path) == ""
    assert line(logs, "before: first", make_run, tmp_path) == ""


@pytest.mark.runs
def test_steps_tell_before_times_do(tmp_path: Path, make_run: MakeRun) -> None:
    """A value that went bad at step 3 came before the last step, which is 6 steps later."""
    rule = RULE.format(order="ORDER")
    head, tail = rule.split("signals:\n")[0], rule[rule.index("when:") :]
    signals = """\
signals:
  first: {table: curves, where: {nonfinite: {above: 0}}, of: anyone}
  second: {table: lifetimes, where: {step: {known: true}}, of: subject, after: first, within: {steps: NEAR}, basis: a test}
"""
    log = "".join(f"step {n} loss {'nan' if n > 2 else n}\n" for n in range(1, 10))
    run = make_run({"worker-0.log": log})
    for near, outcome in ((6, Outcome.FIRED), (5, Outcome.QUIET)):
        text = head + signals.replace("NEAR", str(near)) + tail.replace("{second.line}", "yes")
        assert found(text, run, tmp_path).outcome is outcome


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("after: second", "`second` is no signal above this one"),
        ("after: third", "`third` is no signal above this one"),
        ("within: {steps: 3}", "`within` goes with `after` or `before`"),
        ("after: first\n    within: {steps: -1}", "`-1` is less than 0"),
        ("after: first\n    within: {miles: 1}", "`miles` is no distance"),
        ("after: first\n    before: first", "after another one or before it, not both"),
    ],
)
def test_a_fault_is_named(order: str, says: str, tmp_path: Path) -> None:
    """As every other one."""
    (tmp_path / "mine.yaml").write_text(RULE.format(order=order), encoding="utf-8")
    with pytest.raises(RuleError, match=says):
        load([tmp_path])


@pytest.mark.runs
@pytest.mark.parametrize(
    ("condition", "versions"),
    [
        ('{since: "2.11"}', {"2.11.0", "2.16.2"}),
        ('{before: "2.11"}', {"2.4.4", "2.9.3"}),
        ('{since: "2.9.3", before: "2.16.2"}', {"2.9.3", "2.11.0"}),
    ],
)
def test_versions_are_compared_number_by_number(
    condition: str, versions: set[str], tmp_path: Path, make_run: MakeRun
) -> None:
    """A signal on log lines can ask which TensorFlow printed them."""
    rule = RULE.format(order=f"where: {{tensorflow: {condition}}}")
    told = set()
    for version in ("2.4.4", "2.9.3", "2.11.0", "2.16.2"):
        run = make_run({"worker-0.log": f"tensorflow version: {version}\ncable pulled\nlink is dead\n"})
        if found(rule, run, tmp_path).outcome is Outcome.FIRED:
            told.add(version)
    assert told == versions
