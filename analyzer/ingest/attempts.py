"""Which life of its worker everything belongs to, from 1.

Some schedulers count attempts from 0. And one log can hold several lives, of a worker that was restarted
into the same file.

A process starts one gRPC server, so the second `Started server` begins the second life; it reaches back to
the banner that TensorFlow prints when it is loaded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from analyzer.ingest.readings import Reading
from analyzer.naming import attempt_of


def count_from_one(readings: Sequence[Reading]) -> None:
    """Where any name of the run counts attempts from 0, count all that are named on by one."""
    named = [r for r in readings if attempt_of(r.source.name) is not None]
    rows = [row for r in readings for row in r.rows.get("facts", []) if "attempt" in row]
    if 0 not in {*(r.source.attempt for r in named), *(row["attempt"] for row in rows)}:
        return
    for reading in named:
        reading.source = reading.source._replace(attempt=reading.source.attempt + 1)
    for row in rows:
        row["attempt"] += 1


def split(reading: Reading) -> None:
    """Give every row of a log that holds several lives its attempt."""
    starts = _starts(reading)
    if not starts:
        return
    for table, rows in reading.rows.items():
        if table != "damage":
            for row in rows:
                row["attempt"] = reading.source.attempt + bisect_right(starts, row.get("line") or 0)


def _starts(reading: Reading) -> list[int]:
    """First lines of the second life and of those after it."""
    servers = _lines(reading, "server_address")
    banners = _lines(reading, "process_banner")
    starts = []
    for before, server in pairwise(servers):
        between = [banner for banner in banners if before < banner < server]
        starts.append(between[-1] if between else server)
    return starts


def _lines(reading: Reading, key: str) -> list[int]:
    return [row["line"] for row in reading.rows.get("facts", []) if row["key"] == key]
