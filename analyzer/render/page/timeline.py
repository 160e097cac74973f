"""Computes the geometry of the timeline: a lane per worker, on an axis stretched where events are dense."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from analyzer.render import formatting
from analyzer.render.blame import blamed_workers, leading_workers
from analyzer.render.decision import wording
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
WIDTH, LEFT, RIGHT, TOP = 1080.0, 118.0, 340.0, 34.0
_MAX_LANES, _MAX_TOLD, _NUMBER_GAP, _MAX_ENDED = 80, 12, 15.0, 50
_TROUBLE = frozenset({"error", "signal", "silence", "end"})
_EXPECTED_AT_END = {
    "finished": frozenset({"end"}),
    "aborted_by_peer": frozenset({"end"}),
    "stopped": frozenset({"end", "signal"}),
    "running": frozenset({"signal"}),
}
"""Event kinds that are normal for a way to end, and so never the first sign of trouble."""
_LABEL_PRIORITY = (
    "error", "nonfinite", "exploded", "signal", "end", "accusation", "silence", "last_seen",
    "first_step", "last_step", "start",
)  # fmt: skip


class Axis:
    """Maps times to x coordinates, so that neither a long pause nor a burst of events takes the whole width.

    Half of the width is in proportion to time, half is divided equally among the gaps between events.
    """

    def __init__(self, times: Sequence[float], dated: Sequence[float]) -> None:
        self.dated = {*dated}
        self.knots = sorted(set(times))
        first, last = self.knots[0], self.knots[-1]
        span, gaps = (last - first) or 1.0, (len(self.knots) - 1) or 1
        width = WIDTH - RIGHT - LEFT - 24
        shares = [0.5 * (t - first) / span + 0.5 * i / gaps for i, t in enumerate(self.knots)]
        self.places = [LEFT + 12 + width * s for s in shares]

    def __call__(self, time: float) -> float:
        """Return the x coordinate of a time."""
        i = min(max(bisect_right(self.knots, time), 1), len(self.knots) - 1)
        if len(self.knots) == 1:
            return self.places[0]
        (t0, t1), (x0, x1) = self.knots[i - 1 : i + 1], self.places[i - 1 : i + 1]
        return round(x0 + (x1 - x0) * min(max((time - t0) / (t1 - t0), 0), 1), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return (x, label) of ticks at times of events, as many as fit without overlap."""
        known = [(t, x) for t, x in zip(self.knots, self.places, strict=True) if t in self.dated]
        last = (known[-1][1], formatting.instant(known[-1][0], date=False))
        ticks: list[tuple[float, str]] = []
        for time, x in known:
            label = formatting.instant(time, date=False)
            shown = {text for _, text in (*ticks[-1:], last)}
            if x - (ticks[-1][0] if ticks else -300) >= 124 and last[0] - x >= 124 and label not in shown:
                ticks.append((round(x, 1), label))
        return [*ticks, (round(last[0], 1), last[1])]


def chart(diagnosis: Json) -> dict[str, Any] | None:
    """Return the template's variables for the timeline, or None if all events with a time have the same one.

    Each of the `lanes` is a worker, with `life`, `steps` and `silence` as (start, end) on the x axis.
    A mark is `shown` if its number fits, and `dated` if its event has a time.
    A worker without dated events has no marks.
    """
    timeline = diagnosis["timeline"]
    dated = [e["time"] for e in timeline if e["time"] is not None]
    if len(set(dated)) < 2:
        return None
    on_axis = {e["worker"] for e in timeline if e["time"] is not None}
    placed = [e for e in timeline if e["worker"] in on_axis]
    events = [_Placed(e, t) for e, t in zip(placed, _times(placed), strict=True)]
    axis = Axis([e.time for e in events], dated)
    workers = leading_workers(diagnosis["workers"], _MAX_LANES)
    pitch = 34.0 if len(workers) <= 12 else 22.0 if len(workers) <= 24 else 15.0
    lanes = [_lane(w, events, axis, TOP + 22 + pitch * i) for i, w in enumerate(workers)]
    _merge_repeated_endings(lanes)
    marks = [mark for lane in lanes for mark in lane["marks"]]
    return {
        "width": WIDTH,
        "height": TOP + 22 + pitch * len(workers) + 14,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "pitch": pitch,
        "lanes": lanes,
        "ticks": axis.ticks(),
        "stretched": len(axis.knots) > 2,
        "omitted": len(diagnosis["workers"]) - len(workers),
        "kinds": {mark["kind"] for mark in marks},
        "pauses": {pause["kind"] for lane in lanes for pause in lane["pauses"]},
        "moment": _moment(diagnosis, events, axis),
        "guessed": not all(mark["dated"] for mark in marks),
    }


class _Placed(NamedTuple):
    """An event with the time at which it is drawn."""

    event: Json
    time: float


def _times(events: Sequence[Json]) -> list[float]:
    """Return a time for each event; events without a time are spread evenly between their neighbours."""
    known = [(i, e["time"]) for i, e in enumerate(events) if e["time"] is not None]
    known = [(-1, known[0][1]), *known, (len(events), known[-1][1])]
    times: list[float] = []
    for (i, start), (k, end) in pairwise(known):
        times += [start + (max(end, start) - start) * n / (k - i) for n in range(1, k - i)]
        times.append(end)
    return times[:-1]


def _moment(diagnosis: Json, events: Sequence[_Placed], axis: Axis) -> tuple[float, str] | None:
    """Return x and text of a blamed worker's first sign of trouble; None if the job did not fail.

    An end that peers caused, or that only reflects when the files were collected, is no sign of trouble.
    """
    if diagnosis["verdict"] != "failed":
        return None
    blamed = blamed_workers(diagnosis)
    ended = {w["id"]: w["ended"]["how"] for w in diagnosis["workers"]}
    for event, time in events:
        worker = event["worker"]
        kinds = _TROUBLE - _EXPECTED_AT_END.get(ended.get(worker, ""), frozenset())
        if worker in blamed and event["kind"] in kinds:
            return (axis(time), f"first sign of trouble of {worker}")
    return None


def _merge_repeated_endings(lanes: Sequence[dict[str, Any]]) -> None:
    """Replace an ending that equals that of the lane above by `″`, if there are more than 12 lanes."""
    endings = [lane["ended"] for lane in lanes]
    for lane, above, own in zip(lanes[1:], endings, endings[1:], strict=False):
        lane["ended"], lane["told"] = "″" if own == above and len(lanes) > _MAX_TOLD else own, own


def _lane(worker: Json, events: Sequence[_Placed], axis: Axis, y: float) -> dict[str, Any]:
    own = [e for e in events if e.event["worker"] == worker["id"]]
    at = {e.event["kind"]: axis(e.time) for e in own}
    xs = [axis(e.time) for e in own]
    last_step = at.get("last_step")
    first_step = at.get("first_step", last_step)
    silent = at.get("silence")
    silent_to = min((x for x in xs if silent is not None and x > silent), default=axis.places[-1])
    return {
        "worker": worker["id"],
        "part": worker["part"],
        "ended": one_line(worker["ended"]["says"], _MAX_ENDED),
        "y": y,
        "life": (min(xs), max(xs)) if xs else None,
        "steps": None if first_step is None or last_step is None else (first_step, last_step),
        "silence": None if silent is None else (silent, silent_to),
        "marks": _marks(own, axis),
        "pauses": [_pause(each, axis) for each in worker.get("pauses", ())],
    }


def _pause(pause: Json, axis: Axis) -> dict[str, Any]:
    """Return a pause for the template: position, width, and a title with what the worker did."""
    start, end = axis(pause["start"]), axis(pause["end"])
    pauses = wording()["pauses"]
    label = pauses.get(pause["kind"], pauses["pause"])
    took = formatting.duration(pause["end"] - pause["start"])
    title = f"{label}: {took}, from {formatting.instant(pause['start'], date=False)}"
    return {"kind": pause["kind"], "x": start, "width": round(max(end - start, 2.0), 1), "title": title}


def _marks(events: Sequence[_Placed], axis: Axis) -> list[dict[str, Any]]:
    numbered: list[float] = []
    marks = []
    for event, time in sorted(events, key=lambda e: _label_priority(e.event["kind"])):
        x = axis(time)
        shown = all(abs(x - other) >= _NUMBER_GAP for other in numbered)
        numbered += [x] * shown
        title = f"{event['n']}. {one_line(event['text'], 120)}"
        where = {"n": event["n"], "x": x, "kind": event["kind"], "title": title}
        at = formatting.instant(time, date=False)
        marks.append({**where, "shown": shown, "dated": event["time"] is not None, "time": at})
    return sorted(marks, key=lambda mark: int(mark["n"]))


def _label_priority(kind: str) -> int:
    return _LABEL_PRIORITY.index(kind) if kind in _LABEL_PRIORITY else len(_LABEL_PRIORITY)
