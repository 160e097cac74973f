"""Reports the profiler results: time shares per worker, and who entered collectives last."""

from typing import cast

import polars as pl

from analyzer.model.contract import CollectiveCall, TraceShares
from analyzer.model.run import Tables

MOST_COLLECTIVES = 120
"""Maximum number of collectives; those with the longest waits are kept."""


def traced(tables: Tables) -> list[TraceShares]:
    """Return the time shares and collective waits of each traced worker."""
    return [
        {
            "worker": row["worker"],
            "collectives": row["collectives"],
            "step_time": row["step_time"],
            "collective_share": row["collective_share"],
            "collective_seconds": row["collective_seconds"],
            "input_share": row["input_share"],
            "delay_share": row["straggler_wait_share"],
            "delay_seconds": row["straggler_wait_seconds"],
            "last": row["fastest_exit"],
            "times_last": row["last"],
            "caused_seconds": row["caused_seconds"],
        }
        for row in tables["waits"].sort("worker").iter_rows(named=True)
    ]


def collectives(tables: Tables) -> tuple[list[CollectiveCall], int]:
    """Return (collectives of all traced workers with who entered last, number of further collectives)."""
    if tables["collectives"].is_empty():
        return [], 0
    shared = tables["collectives"].filter(pl.col("shared") & (pl.col("workers") > 1))
    unnumbered = pl.when(pl.col("instance").is_null()).then("name").alias("unnumbered")
    label = ["instance", unnumbered, "step", "nth"]
    told = (
        shared.group_by(label, maintain_order=True)
        .agg(
            pl.col("name").first(),
            pl.col("start").first(),
            pl.col("workers").first(),
            pl.col("worker").filter("last").first().alias("last"),
            pl.col("caused_seconds").max().alias("waited"),
        )
        .filter(pl.col("last").is_not_null())
    )
    kept = told.sort("waited", descending=True, maintain_order=True).head(MOST_COLLECTIVES).sort("start")
    rows = kept.select("name", "step", "nth", "workers", "last", "waited").to_dicts()
    return cast(list[CollectiveCall], rows), told.height - kept.height
