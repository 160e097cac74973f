"""A regex that never ends does not hold up a run, and the report says whose it was."""

from pathlib import Path
from typing import Any

import pytest

from analyzer.engine.loading.load import load
from analyzer.ingest.matcher import Matcher
from analyzer.model.errors import RuleError
from analyzer.model.run import Pattern
from analyzer.pipeline import analyze
from analyzer.render import FORMATS, render

SLOW = Pattern("mine/said", ("E: a",), "(a+)+$")
LINE = "E: " + "a" * 4000 + "!"
"""What takes that regex minutes on any machine."""
RULE = """\
id: mine
title: A line of letters
role: symptom
signals:
  said:
    log: {any_of: ["E: a"], regex: "(a+)+$", example: "E: aaaa"}
when: said
summary: "letters"
cases:
  - {name: "yes", origin: here, given: {worker-0.log: "E: aaaa"}, expect: {fires: true}}
  - {name: "no", origin: here, given: {worker-0.log: "bbbb"}, expect: {fires: false}}
"""
SHORT = {"junit", "github", "gitlab"}
"""Formats that list verdicts and findings, not what could not be read."""
SAYS = "rule mine, signal said: its regex took too long and was given up"


@pytest.fixture(scope="module")
def document(few_rules: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The diagnosis of eight workers that all print such lines, with a regex that takes minutes."""
    run, rules = tmp_path_factory.mktemp("job-17"), tmp_path_factory.mktemp("my-rules")
    (rules / "mine.yaml").write_text(RULE, encoding="utf-8")
    for worker in range(8):
        (run / f"worker-{worker}.log").write_text("step 1 loss 0.5\n" + f"{LINE}\n" * 50, encoding="utf-8")
    return dict(analyze([run], pack=load([few_rules, rules])).document)


@pytest.mark.runs
def test_every_report_names_it(document: dict[str, Any]) -> None:
    """Once for each log, which is not called damaged otherwise."""
    assert [(damage["source"], damage["what"]) for damage in document["damage"]] == [
        (f"worker-{worker}.log", SAYS) for worker in range(8)
    ]
    assert {source["read"] for source in document["sources"]} == {"complete"}
    for name in FORMATS.keys() - SHORT:
        assert "its regex took too long" in render(document, name), name


def test_it_is_tried_once_a_file_and_then_no_more() -> None:
    """A second record of the file is not looked at; the next file is, until its time is used up."""
    matcher = Matcher([SLOW])
    assert confirmations(matcher, 3) == [0, 0, 0]
    assert matcher.confirm({"mine/said"}, "E: aaaa", None) == []
    matcher.begin_file()
    assert len(matcher.confirm({"mine/said"}, "E: aaaa", None)) == 1
    for _ in range(4):
        matcher.begin_file()
        confirmations(matcher, 1)
    matcher.begin_file()
    assert matcher.confirm({"mine/said"}, "E: aaaa", None) == []
    assert matcher.slow == {"mine/said"}


def confirmations(matcher: Matcher, times: int) -> list[int]:
    """How many hits each try of the slow line gives."""
    return [len(matcher.confirm({"mine/said"}, LINE, None)) for _ in range(times)]


def test_a_quick_regex_is_not_held_up_by_a_slow_one(document: dict[str, Any]) -> None:
    """Every worker's step is read all the same."""
    assert [worker["last_step"]["step"] for worker in document["workers"]] == [1] * 8


def test_a_long_bounded_repetition_is_refused(few_rules: Path, tmp_path: Path) -> None:
    """Polars copies what is repeated: compiling `[^,]{0,2000}` takes longer than all other rules."""
    table = "table: exceptions\n    where: {message: {matches: 'a[^,]{0,2000}b'}}"
    log = 'log: {any_of: ["E: a"], regex: "(a+)+$", example: "E: aaaa"}'
    (tmp_path / "mine.yaml").write_text(RULE.replace(log, table), encoding="utf-8")
    with pytest.raises(RuleError, match=r"mine\.yaml:7.*repeats over 50 times"):
        load([few_rules, tmp_path])
