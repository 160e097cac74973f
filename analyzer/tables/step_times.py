"""Computes step durations of each worker from its source with the most timestamps."""

from collections.abc import Iterable, Sequence

import polars as pl

from analyzer.tables.grouping import grouped


def step_times(dated: pl.DataFrame, within: Sequence[str]) -> pl.DataFrame:
    """Return worker, step, seconds per step and time for each dated step but the first of its series.

    Steps without a time share the seconds equally with the next dated one. Of each worker, only the source
    with most rows is used. `dated` holds rows of `scalars` with worker, time and step; the columns `within`
    separate series, such as attempts.
    """
    most = busiest(dated.group_by("worker", "source").len().iter_rows())
    life = ["worker", "source", *within]
    first = dated.group_by(*life, "step").agg(pl.col("time").min()).sort(*life, "step")
    goes_on = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift()) for name in life)
    passed, steps = pl.col("time").diff(), pl.col("step").cast(pl.Int128).diff()  # a file may say any number
    chosen = pl.col("source") == pl.col("worker").replace_strict(most, return_dtype=pl.String)
    return (
        first.with_columns(shown=chosen & goes_on & (passed > 0), seconds=passed / steps)
        .filter("shown")
        .select("worker", "step", "seconds", "time")
    )


def busiest(counts: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return worker → its source with the highest count; of equal ones, the last by name."""
    ranked = grouped((worker, (count, source)) for worker, source, count in counts)
    return {worker: max(sources)[1] for worker, sources in ranked.items()}
