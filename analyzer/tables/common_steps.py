"""Finds the line of each log with the last training step that all workers logged."""

import polars as pl


def last_common_lines(scalars: pl.DataFrame) -> dict[tuple[str, str], int]:
    """Return (worker, source) → its last line whose step (with attempt and epoch) every worker logged."""
    shown = scalars.drop_nulls(["worker", "line"]).select(
        "worker", "source", "line", "attempt", "epoch", "step"
    )
    logged_by = pl.col("worker").n_unique().over("attempt", "epoch", "step")
    shared = shown.filter(logged_by == pl.col("worker").n_unique())
    last = shared.group_by("worker", "source").agg(pl.col("line").max())
    return {(worker, source): line for worker, source, line in last.iter_rows()}
