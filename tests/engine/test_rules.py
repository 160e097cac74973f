"""Every rule is proved by its own cases: it fires where it must, with the right culprits, and stays quiet elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.derive import derive
from analyzer.discover import discover
from analyzer.engine import Rule, match
from analyzer.engine.language import Case, RulePack
from analyzer.engine.load import load
from analyzer.ingest import ingest
from analyzer.model import Finding, Outcome
from analyzer.resources import resource
from tests.conftest import ROOT

PACK = load([resource("rules")])
CASES = [(rule, case) for rule in PACK.rules for case in rule.cases]


def finding(rule: Rule, case: Case, folder: Path) -> Finding:
    """What one rule says of the run that a case spells out or names."""
    for name, text in case.given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    where = ROOT / case.run / "run" if case.run else folder
    alone = RulePack((rule,), PACK.causes, PACK.digest)
    tables = derive(ingest(discover([where]), alone.patterns))
    return match(alone, tables)[0]


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule.id}: {case.name}" for rule, case in CASES])
def test_a_case_of_a_rule_holds(rule: Rule, case: Case, tmp_path: Path) -> None:
    """It fires or stays quiet as the case says, and names the workers that the case says."""
    found = finding(rule, case, tmp_path)
    assert (found.outcome is Outcome.FIRED) == case.fires, found
    if case.fires:
        assert (found.culprits, found.suspects) == (case.culprits, case.suspects)


@pytest.mark.parametrize("rule", PACK.rules, ids=lambda rule: rule.id)
def test_every_case_says_where_it_comes_from(rule: Rule) -> None:
    """A recorded run or a TensorFlow source is named for each case."""
    assert all(case.origin and case.name for case in rule.cases)
