"""A derived table is computed on first use, once, and takes the place of a read one of its name."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from analyzer.tables.lazy_tables import LazyTables


def test_a_derived_table_is_computed_once_and_only_when_asked_for() -> None:
    """Reading another table, or listing the names, computes nothing."""
    asked: list[str] = []

    def steps(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        asked.append("steps")
        return tables["spans"].head(1)

    tables = LazyTables({"spans": pl.DataFrame({"n": [1, 2]})}, {"steps": steps})
    assert (list(tables), len(tables), tables["spans"].height, asked) == (["spans", "steps"], 2, 2, [])
    assert tables["steps"]["n"].to_list() == [1]
    assert tables["steps"] is tables["steps"]
    assert asked == ["steps"]


def test_a_derived_table_replaces_a_read_one() -> None:
    """Its function is what is asked, whatever was read."""
    whole = pl.DataFrame({"seconds": [9]})
    tables = LazyTables({"stalls": pl.DataFrame()}, {"stalls": lambda _: whole})
    assert tables["stalls"] is whole
    assert dict(tables) == {"stalls": whole}


def test_an_unknown_table_is_a_key_error() -> None:
    """The name is the error's argument."""
    with pytest.raises(KeyError, match="nowhere"):
        LazyTables({}, {})["nowhere"]
