"""Lists which peers each worker could reach, as probed by its flight recorder."""

import polars as pl

from analyzer.tables.builders import frame

_SLOW_MILLISECONDS = 20.0
"""Far above what a network of one site needs (under 1), and what a busy host adds to the fastest attempt."""


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
            silent=pl.col("silent").sum().cast(pl.Int64),
            milliseconds=(1000 * pl.col("seconds").min()).round(1),
        )
        .join(listening, on="peer", how="left", maintain_order="left")
    )
    return frame("reachability", _compared(tried).iter_rows(named=True))


def _compared(tried: pl.DataFrame) -> pl.DataFrame:
    """Add what other workers found at the same address, and which end of a failed attempt is to blame.

    `shut_out` marks an address that nobody reaches, `cut_off` a worker that reaches none of its peers.
    """
    place, found = ["peer", "address"], pl.col("opened") > 0
    resolved = pl.col("outcome") != "unresolvable"
    counted = tried.with_columns(
        others_open=(found.sum().over(place) - found).cast(pl.Int64),
        others_resolved=(resolved.sum().over(place) - resolved).cast(pl.Int64),
        reached=found.sum().over("worker"),
        slow_for=(pl.col("milliseconds") >= _SLOW_MILLISECONDS).sum().over(place).cast(pl.Int64),
    )
    lost = ~found & (pl.col("reached") > 0)
    several = pl.len().over("worker") > 1
    return counted.with_columns(
        shut_out=(lost.sum().over(place) > 1) & ~found.any().over(place),
        cut_off=several & (pl.col("reached") == 0) & (pl.col("others_open") > 0).all().over("worker"),
    ).drop("reached")
