"""Where the traced time of each worker went, and for whom the others waited."""

from __future__ import annotations

from typing import Any

from analyzer.model import Tables


def traced(tables: Tables) -> list[dict[str, Any]]:
    """One entry for each worker with a trace of collectives."""
    return [
        {
            "worker": row["worker"],
            "collectives": row["collectives"],
            "step_time": row["step_time"],
            "collective_share": row["collective_share"],
            "collective_seconds": row["collective_seconds"],
            "input_share": row["input_share"],
            "delay_share": row["delay_share"],
            "delay_seconds": row["delay_seconds"],
            "last": row["least"],
        }
        for row in tables["waits"].sort("worker").iter_rows(named=True)
    ]
