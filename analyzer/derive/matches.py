"""What rules look for in logs, with one thing more: whether the worker had already reached its end."""

from __future__ import annotations

import polars as pl

from analyzer.derive.places import behind_end


def matches(found: pl.DataFrame, lifetimes: pl.DataFrame) -> pl.DataFrame:
    """The same rows; `after_end` is true for what was printed behind the line that says "done"."""
    return found.with_columns(behind_end(found, lifetimes).alias("after_end"))
