"""Where the traced time of each worker went, for whom the others waited, and who came last to what."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render import phrasing
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
BAR = 240.0
_MOST_ROWS = 16
"""Workers that have a row each, whether or not they ever came last."""
_ROOM, _LEFT, _TOP, _PITCH, _COLUMN, _SMALLEST = 1080.0, 118.0, 16.0, 22.0, 40.0, 1.5
_NOT_WORTH_A_WORD, _NOT_SEEN = 0.1, 0.01


class Part(NamedTuple):
    """A part of a bar, from `x`, as wide as its share of the time."""

    kind: str
    x: float
    width: float


class Row(NamedTuple):
    """One worker: its bar and its figures."""

    item: Json
    parts: tuple[Part, ...]
    rest: float | None
    blamed: bool


class Call(NamedTuple):
    """One collective: where it is drawn, and who came last to it."""

    x: float
    y: float
    radius: float
    blamed: bool
    item: Json
    title: str


class Latecomers(NamedTuple):
    """Who came last to which collective: a row for a worker, a column for a collective."""

    names: tuple[tuple[str, float, bool], ...]
    calls: tuple[Call, ...]
    left_out: int
    longest: float
    width: float
    height: float
    left: float = 118.0


class Trace(NamedTuple):
    """Everything the template draws."""

    rows: tuple[Row, ...]
    alike: tuple[Row, ...]
    """Of many workers, those that nobody waits for."""
    told: str
    width: float = BAR


def trace(diagnosis: Json) -> Trace | None:
    """Lay out the bars, or return None where no trace was read."""
    traced = diagnosis.get("trace", [])
    if not traced:
        return None
    blamed = {*diagnosis["culprits"]} or {*diagnosis["suspects"]}
    ordered = sorted(traced, key=lambda t: phrasing.worker_key(t["worker"]))
    rows = tuple(_row(t, t["worker"] in blamed) for t in ordered)
    apart = rows if len(rows) <= _MOST_ROWS else tuple(row for row in rows if _stands_out(row))
    return Trace(apart, tuple(row for row in rows if row not in apart), _told(ordered))


def _stands_out(row: Row) -> bool:
    return row.blamed or row.item["last"] or (row.item["delay_share"] or 0.0) >= _NOT_WORTH_A_WORD


def latecomers(diagnosis: Json) -> Latecomers | None:
    """Lay out who came last to which collective, or return None where that cannot be told."""
    called = diagnosis.get("collectives", [])
    if not called:
        return None
    blamed = {*diagnosis["culprits"]} or {*diagnosis["suspects"]}
    traced = {t["worker"] for t in diagnosis["trace"]}
    late = {c["last"] for c in called}
    workers = sorted(traced | late if len(traced) <= _MOST_ROWS else late, key=phrasing.worker_key)
    rows = {worker: _TOP + _PITCH * n for n, worker in enumerate(workers)}
    longest = max(c["waited"] for c in called) or 1.0
    pitch = min(_COLUMN, (_ROOM - _LEFT) / len(called))
    calls = tuple(
        Call(
            round(_LEFT + pitch * (n + 0.5), 1),
            rows[c["last"]],
            round(_SMALLEST + (min(pitch, _PITCH) / 2 - _SMALLEST) * math.sqrt(c["waited"] / longest), 1),
            c["last"] in blamed,
            c,
            f"{_called(c)}: {c['last']} last, waited for {phrasing.duration(c['waited'])}",
        )
        for n, c in enumerate(called)
    )
    return Latecomers(
        tuple((worker, y, worker in blamed) for worker, y in rows.items()),
        calls,
        diagnosis.get("collectives_left_out", 0),
        longest,
        _ROOM,
        _TOP + _PITCH * (len(workers) - 1) + _TOP,
    )


def _called(call: Json) -> str:
    step = "" if call["step"] is None else f", step {call['step']:,}"
    return f"{one_line(call['name'], 80)}{step}, call {call['nth']:,}"


def _row(item: Json, blamed: bool) -> Row:
    collective, own_input = item["collective_share"], item["input_share"]
    if collective is None:
        return Row(item, (), None, blamed)
    collective = min(collective, 1.0)
    waiting = min(own_input or 0.0, 1.0 - collective)
    waiting = waiting if waiting >= _NOT_SEEN else 0.0
    rest = 1.0 - collective - waiting
    ends = [0.0, rest, rest + waiting, 1.0]
    parts = [
        Part(kind, round(BAR * start, 1), round(BAR * (end - start), 1))
        for kind, start, end in zip(("own", "input", "collective"), ends, ends[1:], strict=False)
    ]
    return Row(item, tuple(p for p in parts if p.width), rest, blamed)


def _told(traced: Sequence[Json]) -> str:
    last = [t for t in traced if t["last"]]
    if len(traced) == 1:
        return "Only one worker was traced, so nobody can be compared with it."
    if last:
        share, took = (
            phrasing.percent(last[0]["delay_share"] or 0),
            phrasing.duration(last[0]["delay_seconds"] or 0),
        )
        return (
            f"{last[0]['worker']} comes last to the collectives: "
            f"the others wait for it {share} of the time ({took})."
        )
    most = max(traced, key=lambda t: t["delay_share"] or 0.0)
    if (most["delay_share"] or 0.0) < _NOT_WORTH_A_WORD:
        return "Nobody comes last: all workers wait about equally long."
    return (
        f"Nobody alone comes last; {most['worker']} keeps the others waiting the longest, "
        f"{phrasing.percent(most['delay_share'])} of the time."
    )
