"""Lists which peers each worker could reach, as probed by its flight recorder."""

import polars as pl

from analyzer.tables.builders import frame


def reachability(reach: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and probed peer address; omits the worker's own addresses."""
    if reach.is_empty():
        return frame("reachability", ())
    opened = pl.col("outcome") == "open"
    listening = reach.filter(pl.col("own")).group_by(peer="worker").agg(listens=opened.any())
    tried = (
        reach.filter(~pl.col("own") & pl.col("worker").is_not_null())
        .group_by("worker", "peer", "address", maintain_order=True)
        .agg(
            pl.col("source", "line", "outcome").last(),
            asked=pl.len().cast(pl.Int64),
            opened=opened.sum().cast(pl.Int64),
        )
        .join(listening, on="peer", how="left", maintain_order="left")
    )
    by_all = (pl.col("opened") > 0).sum().over("peer", "address")
    others = (by_all - (pl.col("opened") > 0)).cast(pl.Int64)
    return frame("reachability", tried.with_columns(others_open=others).iter_rows(named=True))
