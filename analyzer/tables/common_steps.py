"""Finds the line of each log with the last training step that all workers logged."""

import polars as pl


def last_common_lines(scalars: pl.DataFrame) -> dict[tuple[str, str], int]:
    """Return (worker, source) → the last line with an attempt, epoch and step that every worker logged."""
    places = scalars.filter(pl.col("line").is_not_null() & pl.col("worker").is_not_null())
    shown = places.select(
        "worker", "source", "line", "attempt", *(pl.col(c).fill_null(-1) for c in ("epoch", "step"))
    )
    everyone = shown["worker"].n_unique()
    common = shown.group_by("attempt", "epoch", "step").agg(pl.col("worker").n_unique().alias("workers"))
    shared = shown.join(common.filter(pl.col("workers") == everyone), on=["attempt", "epoch", "step"])
    last = shared.group_by("worker", "source").agg(pl.col("line").max())
    return {(worker, source): line for worker, source, line in last.iter_rows()}
