"""The order of events over all workers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from analyzer.diagnose.words import how_it_ended, place
from analyzer.model import Tables

MOST_EVENTS = 400

Event = dict[str, Any]


def timeline(tables: Tables) -> list[Event]:
    """Events by time; one without a time stands behind the last dated record of its source."""
    events = [
        *_milestones(tables),
        *_progress(tables),
        *_errors(tables),
        *_accusations(tables),
        *_ends(tables),
    ]
    order = _Order(tables["records"])
    events.sort(key=lambda event: (order.time(event), event["worker"] or "", event["line"] or 0))
    return [{"n": number, **event} for number, event in enumerate(events[:MOST_EVENTS], 1)]


class _Order:
    """Where an event without a time of its own stands: behind the last dated record above it."""

    def __init__(self, records: pl.DataFrame) -> None:
        dated = records.filter(pl.col("near").is_not_null()).select("source", "line", "near")
        self._dated: dict[str, list[tuple[int, float]]] = {}
        for source, line, near in dated.iter_rows():
            self._dated.setdefault(source, []).append((line, near))

    def time(self, event: Event) -> float:
        """Its own time, else that of its neighbour, else infinity."""
        if event["time"] is not None or event["source"] not in self._dated:
            return math.inf if event["time"] is None else float(event["time"])
        above = [near for line, near in self._dated[event["source"]] if line <= (event["line"] or 0)]
        return above[-1] if above else -math.inf


def _event(row: dict[str, Any], kind: str, text: str) -> Event:
    return {
        "time": row.get("time"),
        "worker": row.get("worker"),
        "kind": kind,
        "text": text,
        "source": row.get("source"),
        "line": row.get("line"),
    }


def _milestones(tables: Tables) -> Iterator[Event]:
    told = {
        "server_address": ("server_up", "gRPC server up at {}"),
        "agent_connected": ("joined", "accepted by the coordination service"),
        "sigterm": ("signal", "caught SIGTERM"),
    }
    for life in tables["lifetimes"].iter_rows(named=True):
        if life["started"] is not None:
            yield {
                "time": life["started"],
                "worker": life["worker"],
                "kind": "start",
                "text": "first sign of life",
                "source": None,
                "line": None,
            }
    for row in tables["facts"].filter(pl.col("key").is_in(list(told))).iter_rows(named=True):
        kind, text = told[row["key"]]
        yield _event(row, kind, text.format(row["value"]))


def _progress(tables: Tables) -> Iterator[Event]:
    steps = tables["scalars"].filter(
        (pl.col("step") > 0) & pl.col("line").is_not_null() & pl.col("worker").is_not_null()
    )
    for kind, group in (
        ("first_step", steps.group_by("worker", maintain_order=True).first()),
        ("last_step", steps.group_by("worker", maintain_order=True).last()),
    ):
        for row in group.iter_rows(named=True):
            yield _event(row, kind, f"{kind.replace('_', ' ')} shown: {place(row)}")


def _errors(tables: Tables) -> Iterator[Event]:
    for row in tables["exceptions"].iter_rows(named=True):
        whose = "" if row["own"] else " (passed on from a peer)"
        message = row["message"].partition("\n")[0]
        yield _event(row, "error", f"{row['type']}{whose}: {message[:160]}".rstrip(": "))


def _accusations(tables: Tables) -> Iterator[Event]:
    for row in tables["accusations"].filter("counts").iter_rows(named=True):
        yield _event(row | {"worker": row["accuser"]}, "accusation", f"names {row['worker']}: {row['kind']}")


def _ends(tables: Tables) -> Iterator[Event]:
    for life in tables["lifetimes"].iter_rows(named=True):
        kind = "silence" if life["ended"] in {"vanished", "never_started"} else "end"
        yield {
            "time": life["last_seen"],
            "worker": life["worker"],
            "kind": kind,
            "text": how_it_ended(life),
            "source": life["end_source"],
            "line": life["end_line"],
        }
