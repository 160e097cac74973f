"""Sets aside what Kubernetes says of pods that ran at another time than the logs: they are of another job."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

import polars as pl

from analyzer.model.run import Tables
from analyzer.tables.builders import frame, joined

_GAP_SECONDS, _DAY_SECONDS = 600.0, 86_400.0
"""Minimum seconds between pod and log: where the log states UTC, and where it may be in any time zone."""
_IN_UTC = r"^[IWEF]0000 00:00:\d{10}\.|^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z(?:\s|$)"
_YEARLESS = 32e6
"""Times below it are of logs that state no year."""

Place = tuple[str, str]
"""Source that describes a pod, and the pod's worker."""


class _Span(NamedTuple):
    first: float
    last: float

    def __str__(self) -> str:
        times = (datetime.fromtimestamp(time, UTC) for time in self if abs(time) < inf)
        return " to ".join(f"{time:%Y-%m-%d %H:%M} UTC" for time in times)


def without_pods_of_other_times(read: Tables) -> Tables:
    """Return the tables; without facts and matches of pods whose times rule out those of the worker's log.

    If no pod of a source meets the log of its worker, all of that source is left out. A fact
    `pods_of_another_time` says so.
    """
    facts = read["facts"]
    stated = facts.filter(pl.col("worker").is_not_null() & pl.col("key").is_in(["started_at", "finished_at"]))
    if stated.is_empty():
        return read
    pods, logs = _pods(stated), _logs(read)
    known = {place for place in pods if place[1] in logs}
    apart = {place: why for place in known if (why := _why_apart(pods[place], *logs[place[1]]))}
    if not apart:
        return read
    whole = {source for source, _ in apart} - {source for source, _ in known - apart.keys()}

    def kept(table: str) -> pl.DataFrame:
        rows = read[table]
        of_pod = pl.struct("source", "worker").is_in([{"source": s, "worker": w} for s, w in apart])
        return rows.filter(~(of_pod | pl.col("source").is_in([*whole])).fill_null(value=False))

    lines = {(row["source"], row["worker"]): row["line"] for row in stated.iter_rows(named=True)}
    said = [
        {"source": source, "worker": worker, "attempt": 1, "line": lines[source, worker], "value": why}
        | {"key": "pods_of_another_time"}
        for (source, worker), why in sorted(apart.items())
    ]
    return {
        **read,
        "facts": joined("facts", [kept("facts"), frame("facts", said)]),
        "matches": kept("matches"),
    }


def _pods(stated: pl.DataFrame) -> dict[Place, _Span]:
    """Return when each pod ran; without an end, it may still run."""
    found: dict[Place, _Span] = {}
    for row in stated.iter_rows(named=True):
        place, time = (row["source"], row["worker"]), datetime.fromisoformat(row["value"]).timestamp()
        known = found.get(place, _Span(-inf, inf))
        found[place] = known._replace(**{"first" if row["key"] == "started_at" else "last": time})
    return found


def _logs(read: Tables) -> Mapping[str, tuple[_Span, float]]:
    """Return worker → (when it logged, by how much that may differ from UTC)."""
    return {worker: (span, gap) for gap in (_DAY_SECONDS, _GAP_SECONDS) for worker, span in _spans(read, gap)}


def _spans(read: Tables, gap: float) -> Iterator[tuple[str, _Span]]:
    logs = read["sources"].filter(kind="log")["source"]
    records = read["records"].filter(pl.col("source").is_in(logs.implode()), pl.col("time") > _YEARLESS)
    wanted = records if gap == _DAY_SECONDS else records.filter(pl.col("text").str.contains(_IN_UTC))
    spans = wanted.drop_nulls("worker").group_by("worker").agg(first=pl.min("time"), last=pl.max("time"))
    for worker, first, last in spans.iter_rows():
        yield worker, _Span(first, last)


def _why_apart(pod: _Span, log: _Span, gap: float) -> str:
    if log.last < pod.first - gap:
        return f"its container started after the end of its log: it ran {pod}, and the log is from {log}"
    if log.first > pod.last + gap:
        return f"its container had ended before its log begins: it ran {pod}, and the log is from {log}"
    return ""
