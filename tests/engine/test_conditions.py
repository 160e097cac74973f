"""Conditions of signals: Python and polars agree on every cell."""

from __future__ import annotations

from math import inf, nan

import polars as pl
import pytest

from analyzer.engine.conditions import expression, is_simple, meets

CELLS = pl.DataFrame(
    {
        "number": [None, nan, inf, -inf, 0.0, 1.0, 1.5],
        "count": [None, 0, 1, 2, -1, 1, 2],
        "flag": [None, True, False, True, False, True, False],
        "word": [None, "", "a", "b", "A", "signal", "exited"],
    }
)


@pytest.mark.parametrize(
    "where",
    [
        *({"number": {operator: 1}} for operator in ("at_least", "at_most", "above", "below", "not")),
        *({"count": {operator: 0.5}} for operator in ("at_least", "at_most", "above", "below")),
        {"number": {"above": 0, "not": [1, 1.5]}},
        {"number": {"known": True}, "flag": True},
        {"word": {"known": False}},
        {"word": ["a", "signal"], "count": [1, 2]},
        {"word": {"not": ["a", "exited"]}, "flag": {"not": True}},
        {},
    ],
)
def test_python_and_polars_agree(where: dict[str, object]) -> None:
    """For nulls, NaN and infinities too."""
    assert is_simple(where)
    by_polars = CELLS.select(expression(where).alias("met"))["met"].to_list()
    assert [meets(row, where) for row in CELLS.iter_rows(named=True)] == by_polars


@pytest.mark.parametrize("operator", ["contains", "matches", "since", "before"])
def test_operators_on_texts_are_left_to_polars(operator: str) -> None:
    """Its regex engine runs in linear time."""
    assert not is_simple({"count": 1, "word": {"not": "a", operator: "2.11"}})
