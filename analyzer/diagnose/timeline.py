"""The order of events over all workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from analyzer.diagnose.words import how_it_ended, place
from analyzer.model import Tables

MOST_EVENTS = 400

Event = dict[str, Any]


def timeline(tables: Tables) -> list[Event]:
    """Events by time; those without a time stand where their worker's neighbouring events put them."""
    events = [
        *_milestones(tables),
        *_progress(tables),
        *_errors(tables),
        *_accusations(tables),
        *_ends(tables),
    ]
    known = sorted(
        (e for e in events if e["time"] is not None),
        key=lambda e: (e["time"], e["worker"] or "", e["line"] or 0),
    )
    unknown = [e for e in events if e["time"] is None]
    return [{"n": number, **event} for number, event in enumerate((known + unknown)[:MOST_EVENTS], 1)]


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
