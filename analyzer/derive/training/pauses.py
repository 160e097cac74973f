"""Finds pauses: compilation, checkpoints, evaluation, and steps much slower than usual."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import median
from typing import NamedTuple, cast

import polars as pl

from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.run import Tables
from analyzer.model.schema import VALIDATION
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock
from analyzer.tables.grouping import grouped
from analyzer.tables.intervals import union
from analyzer.tables.step_times import busiest

MAX_PAUSES = 12
"""Maximum number of pauses per worker; the longest are kept."""
_MIN_GAPS = 5
"""Minimum number of gaps for computing the usual step time."""
_LONG, _SAVED = 5.0, 1.5
"""Number of usual step times from which a gap is a pause: without, and with a checkpoint in it."""
_SHORTEST = 0.5
"""Minimum length of a pause in seconds."""
_ALARM = lazy_regex(r"The operation took (?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?P<s>[\d.]+)(?P<unit>m?s)")


class _Pause(NamedTuple):
    """One row of the `pauses` table."""

    worker: str
    kind: str
    start: float
    end: float
    source: str

    @classmethod
    def at(cls, kind: str, clock: CommonClock, worker: str, source: str, start: float, end: float) -> _Pause:
        """Create a pause with its times converted to the common clock."""
        begin, until = clock.time(worker, source, start), clock.time(worker, source, end)
        return cls(worker, kind, cast(float, begin), cast(float, until), source)

    def overlaps(self, other: _Pause) -> bool:
        """Return True if two pauses overlap in time."""
        return self.start < other.end and other.start < self.end


class _Step(NamedTuple):
    """A training position with its time; `epoch` is 0 where steps are numbered across epochs."""

    time: float
    epoch: int
    step: int


class _Saved(NamedTuple):
    """Time of a checkpoint and the last training position logged above it in the same log."""

    time: float | None
    epoch: int
    step: int | None


def pauses(read: Tables, clock: CommonClock) -> pl.DataFrame:
    """Return the longest pauses of each worker, by time on the common clock."""
    saved, steps = _checkpoints(read), _dated_steps(read["scalars"])
    evaluations = _evaluation_times(read["scalars"])
    found: dict[str, list[_Pause]] = {}
    for worker, source, start, end in _compilations(read):
        found.setdefault(worker, []).append(_Pause.at("compile", clock, worker, source, start, end))
    for (worker, source), own in steps.items():
        compiled = tuple(found.setdefault(worker, []))
        for kind, start, end in _slow_gaps(own, saved.get(worker, []), evaluations.get(worker, [])):
            pause = _Pause.at(kind, clock, worker, source, start, end)
            if kind != "pause" or not any(pause.overlaps(other) for other in compiled):
                found[worker].append(pause)
    return frame("pauses", (pause._asdict() for own in found.values() for pause in _longest(own)))


def _longest(own: Sequence[_Pause]) -> list[_Pause]:
    kept = sorted(own, key=lambda pause: pause.start - pause.end)[:MAX_PAUSES]
    return sorted(kept, key=lambda pause: (pause.start, pause.end))


def _compilations(tables: Tables) -> Iterator[tuple[str, str, float, float]]:
    """Yield (worker, source, start, end) of each compilation; overlapping ones are merged."""
    compiled = (pl.col("kind") == "compile") & pl.col("absolute") & (pl.col("end") > pl.col("start"))
    traced = tables["spans"].filter(compiled).drop_nulls("worker").select("worker", "source", "start", "end")
    every = (*traced.iter_rows(), *_slow_operations(tables["records"]))
    found = grouped(((worker, source), (start, end)) for worker, source, start, end in every)
    for (worker, source), intervals in found.items():
        yield from ((worker, source, start, end) for start, end in union(intervals))


def _slow_operations(records: pl.DataFrame) -> Iterator[tuple[str, str, float, float]]:
    """Yield the slow operations that XLA reports on completion, e.g. compilation or autotuning."""
    alarms = records.filter(origin="slow_operation_alarm.cc").drop_nulls(["worker", "time"])
    for worker, source, time, text in alarms.select("worker", "source", "time", "text").iter_rows():
        if took := _ALARM.search(text):
            scale = 0.001 if took["unit"] == "ms" else 1.0
            seconds = 3600 * int(took["h"] or 0) + 60 * int(took["m"] or 0) + scale * float(took["s"])
            yield worker, source, time - seconds, time


def _dated_steps(scalars: pl.DataFrame) -> dict[tuple[str, str], list[_Step]]:
    """Return the dated steps of each worker, from the source with the most of them."""
    training = scalars.select("worker", "source", "attempt", "tag", "epoch", "step", "time").filter(
        pl.all_horizontal(pl.col("worker", "time", "step").is_not_null()),
        ~pl.col("tag").str.contains(f"{VALIDATION}|^(?:val|epoch)_"),
    )
    places = ["worker", "source", "attempt", pl.col("epoch").fill_null(0), "step"]
    first = training.group_by(places, maintain_order=True).agg(pl.col("time").min())
    rows = first.sort("time", maintain_order=True).select("worker", "source", "time", "epoch", "step")
    found = grouped(((worker, source), _Step(*step)) for worker, source, *step in rows.iter_rows())
    most = busiest((worker, source, len(steps)) for (worker, source), steps in found.items())
    return {place: found[place] for place in most.items()}


def _slow_gaps(
    steps: Sequence[_Step], saved: Sequence[_Saved], evaluations: Sequence[float]
) -> Iterator[tuple[str, float, float]]:
    """Yield (kind, start, end) of each gap that is much longer than usual for its number of steps."""
    gaps = _gaps(steps)
    if len(gaps) < _MIN_GAPS:
        return
    one_step = median((later.time - earlier.time) / count for earlier, later, count in gaps)
    for earlier, later, count in gaps:
        seconds, usual = later.time - earlier.time, one_step * count
        if seconds < max(_SHORTEST, usual * _SAVED):
            continue
        if any(_within(place, earlier, later) for place in saved):
            yield "checkpoint", earlier.time, later.time
        elif seconds >= usual * _LONG:
            evaluated = bisect_right(evaluations, earlier.time) < bisect_right(evaluations, later.time)
            yield "evaluation" if evaluated else "pause", earlier.time, later.time


def _gaps(steps: Sequence[_Step]) -> list[tuple[_Step, _Step, float]]:
    """Return (earlier, later, number of steps) of consecutive logged steps.

    After a counter reset, the median number of steps is assumed.
    """
    counts = [later.step - earlier.step for earlier, later in pairwise(steps)]
    usually = max(1.0, median(counts)) if counts else 1.0
    return [
        (earlier, later, count if count > 0 else usually)
        for (earlier, later), count in zip(pairwise(steps), counts, strict=True)
    ]


def _within(place: _Saved, earlier: _Step, later: _Step) -> bool:
    """Return True if a checkpoint lies between two steps, by its time if known, else by its position."""
    if place.time is not None:
        return earlier.time <= place.time <= later.time
    if place.step is None:
        return False
    if not earlier.epoch:
        return earlier.step <= place.step < later.step
    return (earlier.epoch, earlier.step) <= (place.epoch, place.step) < (later.epoch, later.step)


def _checkpoints(tables: Tables) -> dict[str, list[_Saved]]:
    """Return worker → its checkpoints with their positions."""
    facts = tables["facts"].filter((pl.col("key") == "checkpoint") & pl.col("worker").is_not_null())
    if not facts.height:
        return {}
    of_them = pl.col("source").is_in(facts["source"].unique().to_list())
    shown = tables["scalars"].filter(of_them).drop_nulls(["line", "step"])
    places = {
        source: own.sort("line").select("line", pl.col("epoch").fill_null(0), "step").rows()
        for (source,), own in shown.group_by("source")
    }
    found: dict[str, list[_Saved]] = {}
    for worker, source, line, time in facts.select("worker", "source", "line", "time").iter_rows():
        above = places.get(source, [])
        at = bisect_left(above, line, key=itemgetter(0)) if line is not None else 0
        _, epoch, step = above[at - 1] if at else (0, 0, None)
        found.setdefault(worker, []).append(_Saved(time, epoch, step))
    return found


def _evaluation_times(scalars: pl.DataFrame) -> dict[str, list[float]]:
    """Return worker → times at which it logged evaluation results."""
    tested = scalars.filter(pl.col("tag").str.contains(f"{VALIDATION}|^val_")).drop_nulls(["worker", "time"])
    return dict(tested.group_by("worker").agg(pl.col("time").unique().sort()).iter_rows())
