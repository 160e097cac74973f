"""Finds when workers ended: as recordings state it, and at the latest by their peers' reports."""

from collections.abc import Container
from typing import Any

import polars as pl

from analyzer.model.run import Tables
from analyzer.tables.clock_alignment import CommonClock

_LOST = ("down", "heartbeat", "leader", "restarted", "transport")
"""Kinds of reports that follow the loss of a worker."""


def first_reports(tables: Tables, clock: CommonClock, exact: Container[tuple[str, int]]) -> dict[str, float]:
    """Return worker → first dated report of a peer that lost it, on the common clock."""
    lost = tables["accusations"].filter(pl.col("counts") & pl.col("kind").is_in(_LOST))
    found: dict[str, float] = {}
    for row in lost.iter_rows(named=True):
        time = clock.time(row["accuser"], row["source"], row["time"])
        if time is not None and (row["source"], row["line"]) in exact:
            found[row["worker"]] = min(time, found.get(row["worker"], time))
    return found


def recorded_ends(facts: pl.DataFrame, clock: CommonClock) -> dict[str, dict[str, Any]]:
    """Return worker → the row of its last recorded end, with its time on the common clock of the logs."""
    rows = facts.filter(key="recorded_end").drop_nulls(["worker", "time"]).sort("time", maintain_order=True)
    return {
        row["worker"]: row | {"time": clock.of_kind(row["worker"], "log", row["time"])}
        for row in rows.iter_rows(named=True)
    }
