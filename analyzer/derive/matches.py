"""What rules look for in logs, with what is known of its worker: its end, its TensorFlow."""

from __future__ import annotations

import polars as pl

from analyzer.derive.ordering import behind_end


def matches(
    found: pl.DataFrame, lifetimes: pl.DataFrame, workers: pl.DataFrame, scalars: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows with what came after each: its worker's planned end, or more progress."""
    versions = workers.select("worker", "tensorflow").drop_nulls()
    alike = versions["tensorflow"].unique().to_list()
    of_all = alike[0] if len(alike) == 1 else None
    own = dict(versions.iter_rows())
    stated = [own.get(worker, of_all) for worker in found["worker"].to_list()]
    return found.with_columns(
        behind_end(found, lifetimes).alias("after_end"),
        _overcome(found, scalars).alias("overcome"),
        pl.Series("tensorflow", stated, dtype=pl.String()),
    )


def _overcome(found: pl.DataFrame, scalars: pl.DataFrame) -> pl.Series:
    """Tell for each row whether a line of progress stands further down in its source."""
    last = scalars.group_by("source").agg(last=pl.col("line").max())
    joined = found.select("source", "line").join(last, on="source", how="left", maintain_order="left")
    return joined.select((pl.col("last") > pl.col("line")).fill_null(value=False)).to_series()
