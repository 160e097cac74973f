"""A rule reads well: its page has the same headings for every rule, and says in words what it looks for."""

from __future__ import annotations

import re

import pytest

from analyzer.engine.authoring import pages
from analyzer.engine.authoring.cases import is_recorded
from analyzer.engine.loading.schemas import file_schema
from analyzer.engine.rule_types import Case
from tests.rules import our_rules

PACK = our_rules()
RULES = {rule.id: rule for rule in PACK.rules}


def test_no_page_shows_the_notation_of_rules() -> None:
    """No placeholder that is left, no Python set or mapping, no heading without words below it."""
    shown = re.compile(
        r"(?m)\{[a-z_]+\.[a-z_]+\}|\{(?:subject|others|life|job)[.}]|frozenset|\{'|^## .*\n+(?:## |\Z)"
    )
    found = {rule.id: shown.findall(pages.rule_page(rule, PACK.causes)) for rule in PACK.rules}
    assert {rule: notation for rule, notation in found.items() if notation} == {}


def test_a_page_says_what_is_looked_for_in_words() -> None:
    """Whose rows, of which table, and with which values."""
    page = pages.rule_page(RULES["worker-killed"], PACK.causes)
    assert (
        "It fires when (**sigkill** and (**lost_by_peers** or **peer_fell** or **ended_first** or not" in page
    )
    assert "a row of `lifetimes` of the worker in question where ended is `signal` and signal is `9`" in page


def test_the_catalogue_has_every_rule_once() -> None:
    """Under its family, each with the same four lines."""
    text = pages.catalogue(PACK)
    assert sorted(re.findall(r"^### \[(.+?)\]", text, re.MULTILINE)) == sorted(RULES)
    for line in ("Says", "Fires when", "Blames", "To do"):
        assert text.count(f"\n- {line}: ") == len(RULES)


def test_every_scope_has_words() -> None:
    """A new one would otherwise break the pages."""
    assert set(pages._words()["whose"]) == set(
        file_schema("rule")["$defs"]["signal"]["properties"]["of"]["enum"]
    )


@pytest.mark.parametrize(
    ("origin", "run", "recorded"),
    [("recorded run sample_runs/nan-loss", None, True), ("a run", "sample_runs/nan-loss", True),
     ("TensorFlow 2.9 dso_loader.cc; not recorded", None, False), ("near miss", None, False)],
)  # fmt: skip
def test_a_recorded_origin_names_its_run(origin: str, run: str | None, recorded: bool) -> None:
    """`not recorded` does not count."""
    assert is_recorded(Case("", origin, {}, fires=True, run=run)) is recorded
