"""Geometry of the trace section: how each worker spent its time, and who was last to each collective."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render import formatting
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
BAR = 240.0
_MAX_ROWS = 16
"""Workers up to which each has a row, even if it was never last."""
_CHART_WIDTH, _LEFT, _TOP, _PITCH, _COLUMN, _SMALLEST = 1080.0, 118.0, 16.0, 22.0, 40.0, 1.5
_NOTABLE_SHARE, _VISIBLE_SHARE = 0.1, 0.01


class Part(NamedTuple):
    """A part of a bar; its width is its share of the time."""

    kind: str
    x: float
    width: float


class Row(NamedTuple):
    """One worker's bar and figures."""

    item: Json
    parts: tuple[Part, ...]
    rest: float | None
    blamed: bool


class Call(NamedTuple):
    """One collective operation as a dot in the row of its last worker."""

    x: float
    y: float
    radius: float
    blamed: bool
    item: Json
    title: str


class Latecomers(NamedTuple):
    """Which worker was last to each collective: a row for each worker, a column for each collective."""

    names: tuple[tuple[str, float, bool], ...]
    calls: tuple[Call, ...]
    left_out: int
    longest: float
    width: float
    height: float
    left: float = 118.0


class Trace(NamedTuple):
    """Everything that the template needs to draw the bars."""

    rows: tuple[Row, ...]
    typical: tuple[Row, ...]
    """In large clusters, the workers that nobody waits for."""
    summary: str
    width: float = BAR


def trace(diagnosis: Json) -> Trace | None:
    """Return the bars of all traced workers, or None if no trace was read."""
    traced = diagnosis.get("trace", [])
    if not traced:
        return None
    blamed = {*diagnosis["culprits"]} or {*diagnosis["suspects"]}
    in_schema_order = sorted(traced, key=lambda t: formatting.worker_key(t["worker"]))
    rows = tuple(_row(t, t["worker"] in blamed) for t in in_schema_order)
    outliers = rows if len(rows) <= _MAX_ROWS else tuple(row for row in rows if _stands_out(row))
    return Trace(outliers, tuple(row for row in rows if row not in outliers), _summary(in_schema_order))


def _stands_out(row: Row) -> bool:
    return row.blamed or row.item["last"] or (row.item["delay_share"] or 0.0) >= _NOTABLE_SHARE


def latecomers(diagnosis: Json) -> Latecomers | None:
    """Return who was last to each collective, or None if the traces have no matching collectives."""
    called = diagnosis.get("collectives", [])
    if not called:
        return None
    blamed = {*diagnosis["culprits"]} or {*diagnosis["suspects"]}
    traced = {t["worker"] for t in diagnosis["trace"]}
    late = {c["last"] for c in called}
    workers = sorted(traced | late if len(traced) <= _MAX_ROWS else late, key=formatting.worker_key)
    rows = {worker: _TOP + _PITCH * n for n, worker in enumerate(workers)}
    longest = max(c["waited"] for c in called) or 1.0
    pitch = min(_COLUMN, (_CHART_WIDTH - _LEFT) / len(called))
    calls = tuple(
        Call(
            round(_LEFT + pitch * (n + 0.5), 1),
            rows[c["last"]],
            round(_SMALLEST + (min(pitch, _PITCH) / 2 - _SMALLEST) * math.sqrt(c["waited"] / longest), 1),
            c["last"] in blamed,
            c,
            f"{_call_label(c)}: {c['last']} last, waited for {formatting.duration(c['waited'])}",
        )
        for n, c in enumerate(called)
    )
    return Latecomers(
        tuple((worker, y, worker in blamed) for worker, y in rows.items()),
        calls,
        diagnosis.get("collectives_left_out", 0),
        longest,
        _CHART_WIDTH,
        _TOP + _PITCH * (len(workers) - 1) + _TOP,
    )


def _call_label(call: Json) -> str:
    step = "" if call["step"] is None else f", step {call['step']:,}"
    return f"{one_line(call['name'], 80)}{step}, call {call['nth']:,}"


def _row(item: Json, blamed: bool) -> Row:
    collective, own_input = item["collective_share"], item["input_share"]
    if collective is None:
        return Row(item, (), None, blamed)
    collective = min(collective, 1.0)
    waiting = min(own_input or 0.0, 1.0 - collective)
    waiting = waiting if waiting >= _VISIBLE_SHARE else 0.0
    rest = 1.0 - collective - waiting
    ends = [0.0, rest, rest + waiting, 1.0]
    parts = [
        Part(kind, round(BAR * start, 1), round(BAR * (end - start), 1))
        for kind, start, end in zip(("own", "input", "collective"), ends, ends[1:], strict=False)
    ]
    return Row(item, tuple(p for p in parts if p.width), rest, blamed)


def _summary(traced: Sequence[Json]) -> str:
    last = [t for t in traced if t["last"]]
    if len(traced) == 1:
        return "Only one worker was traced, so there is no comparison."
    if last:
        share, took = (
            formatting.percent(last[0]["delay_share"] or 0),
            formatting.duration(last[0]["delay_seconds"] or 0),
        )
        return (
            f"{last[0]['worker']} is last to the collectives: "
            f"the others wait for it {share} of the time ({took})."
        )
    most = max(traced, key=lambda t: t["delay_share"] or 0.0)
    if (most["delay_share"] or 0.0) < _NOTABLE_SHARE:
        return "Nobody is last: all workers wait about equally long."
    return (
        f"No single worker is last; {most['worker']} keeps the others waiting the longest, "
        f"{formatting.percent(most['delay_share'])} of the time."
    )
