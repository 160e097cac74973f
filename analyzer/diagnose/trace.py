"""Reports the profiler results: time shares per worker, and who entered collectives last."""

from typing import cast

import polars as pl

from analyzer.model.contract import CollectiveCall, TraceShares
from analyzer.model.run import Tables

_NAMES = {
    "straggler_wait_share": "delay_share",
    "straggler_wait_seconds": "delay_seconds",
    "fastest_exit": "last",
    "last": "times_last",
}
"""Column of `waits` → its name in the document, where that differs."""
MAX_COLLECTIVES = 120
"""Maximum number of collectives; those with the longest waits are kept."""


def traced(tables: Tables) -> list[TraceShares]:
    """Return the time shares and collective waits of each traced worker."""
    waits = tables["waits"].sort("worker").rename(_NAMES).select([*TraceShares.__annotations__])
    return cast(list[TraceShares], waits.to_dicts())


def collectives(tables: Tables) -> tuple[list[CollectiveCall], int]:
    """Return (collectives of all traced workers with who entered last, number of further collectives)."""
    if tables["collectives"].is_empty():
        return [], 0
    shared = tables["collectives"].filter(pl.col("shared") & (pl.col("workers") > 1))
    unnumbered = pl.when(pl.col("instance").is_null()).then("name").alias("unnumbered")
    label = ["instance", unnumbered, "step", "nth"]
    last, waited = pl.col("worker").filter("last").first(), pl.col("caused_seconds").max()
    calls = shared.group_by(label, maintain_order=True).agg(
        pl.col("name", "start", "workers").first(), last=last, waited=waited
    )
    matched = calls.drop_nulls("last")
    kept = matched.sort("waited", descending=True, maintain_order=True).head(MAX_COLLECTIVES).sort("start")
    rows = kept.select("name", "step", "nth", "workers", "last", "waited").to_dicts()
    return cast(list[CollectiveCall], rows), matched.height - kept.height
