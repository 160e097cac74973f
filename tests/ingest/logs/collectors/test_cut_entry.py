"""A log that ends within a JSON object is told to be cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest import ingest
from tests.rules import our_rules

ENTRY = '{"level": "info", "step": 1, "message": "loss 0.5"}\n'


@pytest.mark.parametrize(
    ("end", "lines"),
    [(ENTRY, []), (ENTRY[:30], [3]), (ENTRY[:30] + "\n", [3]), ("{'loss': 0.5\n", [])],
    ids=["whole", "cut", "cut, and a line end", "no JSON"],
)
def test_a_json_object_without_its_end_is_damage(
    end: str, lines: list[int], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Its writer was stopped; what it said last is lost."""
    run, messages = make_run({"worker-0.log": ENTRY * 2 + end}), our_rules().messages
    damage = ingest(discover([run]), [], messages)["damage"]
    assert damage["line"].to_list() == lines
    assert damage["what"].str.contains("JSON object").to_list() == [True] * len(lines)
