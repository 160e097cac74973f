"""Every rule is proved by its own cases: it fires where it must, with the right culprits, and stays quiet elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.engine import Rule, RulePack
from analyzer.engine.authoring.cases import run_case
from analyzer.engine.rule_types import Case
from analyzer.ingest.matcher import Matcher
from analyzer.model.run import Pattern, Tables
from analyzer.pipeline import load_tables
from tests.recordings import ROOT, Recordings
from tests.rules import our_rules

PACK = our_rules()


def cases(*, recorded: bool) -> pytest.MarkDecorator:
    """Parametrize a test with the cases that name a recorded run, or with those that spell out their files."""
    chosen = [(rule, case) for rule in PACK.rules for case in rule.cases if bool(case.run) == recorded]
    ids = [f"{rule.id}: {case.name}" for rule, case in chosen]
    return pytest.mark.parametrize(("rule", "case"), chosen, ids=ids)


def read(run: Path, _: RulePack) -> Tables:
    """Read a run with all rules, whose matcher is compiled once."""
    return load_tables(discover([run]), PACK)


@pytest.mark.rules
@cases(recorded=False)
def test_a_case_of_a_rule_holds(rule: Rule, case: Case, tmp_path: Path) -> None:
    """It fires or stays quiet as the case says, and names the workers that the case says."""
    trial = run_case(PACK, rule, case, ROOT, tmp_path, read)
    assert trial.fault + trial.missing == ""


@cases(recorded=True)
def test_a_case_on_a_sample_run_holds(rule: Rule, case: Case, recordings: Recordings, tmp_path: Path) -> None:
    """It fires or stays quiet as the case says, and names the workers that the case says."""
    trial = run_case(PACK, rule, case, ROOT, tmp_path, lambda run, _: recordings.tables(run.parent))
    assert trial.fault + trial.missing == ""


def test_every_case_says_where_it_comes_from() -> None:
    """A recorded run or a TensorFlow source is named for each case."""
    unnamed = [
        (rule.id, case) for rule in PACK.rules for case in rule.cases if not (case.origin and case.name)
    ]
    assert unnamed == []


@pytest.mark.parametrize(
    "lookup",
    [p for p in PACK.patterns if p.id.endswith(("unnamed/seen", "worker/cannot", "worker/others_cannot"))],
    ids=lambda lookup: lookup.id,
)
def test_a_rule_quotes_the_line_with_the_words_and_not_the_first_of_the_record(lookup: Pattern) -> None:
    """A failed look-up of a name is quoted by its words, however the traceback above them begins."""
    words = "socket.gaierror: [Errno -3] Temporary failure in name resolution"
    traceback = f'Traceback (most recent call last):\n  File "/opt/train.py", line 21, in wait\n{words}'
    [hit] = Matcher([lookup]).confirm([lookup.id], traceback, None)
    assert hit.start > traceback.index("socket.gaierror")
    storage = f"Traceback (most recent call last): https://storage.example\n{words}"
    assert Matcher([lookup]).confirm([lookup.id], storage, None) == []
