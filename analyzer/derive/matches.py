"""What rules look for in logs, with one thing more: whether the worker had already reached its end."""

from __future__ import annotations

import polars as pl


def matches(found: pl.DataFrame, lifetimes: pl.DataFrame) -> pl.DataFrame:
    """The same rows; `after_end` is true for what was printed behind the line that says "done"."""
    ends = lifetimes.select(source="end_source", end_line="end_line").filter(pl.col("source").is_not_null())
    joined = found.join(ends, on="source", how="left", maintain_order="left")
    after = (pl.col("line") > pl.col("end_line")).fill_null(value=False)
    return joined.with_columns(after_end=after).drop("end_line")
