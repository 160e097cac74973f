"""Measures each worker's step times and finds lasting changes of pace.

Changes are found with Pettitt's test, which compares the ranks of the times before and after each step.
Being rank-based, it ignores the single slow steps that occur on any loaded machine.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.schema import VALIDATION
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped
from analyzer.tables.step_times import step_times

_READ = ("worker", "attempt", "source", "tag", "step", "time", "origin")
_MIN_STEPS = 8
"""Minimum number of steps on either side of a change."""
_CHANCE = 0.001
_FACTOR = 1.5
"""Smallest ratio of step times before and after a change."""
_MAX_TESTED = 2_000
"""Maximum number of step times that are tested; more are reduced to medians of neighbouring steps."""


class Timed(NamedTuple):
    """A step and its duration in seconds."""

    step: int
    seconds: float


class Change(NamedTuple):
    """A change of pace: its first step and the median step seconds before and after."""

    step: int
    before: float
    after: float


def paces(scalars: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return step times and their lasting changes, one row per worker with dated progress."""
    tried = pl.col("tag").str.contains(VALIDATION) | pl.col("tag").str.starts_with("val_")
    dated = scalars.select(_READ).drop_nulls(["worker", "time"]).with_columns(tried=tried)
    if dated.is_empty():
        return frame("paces", ())
    steps, tests = _steps(dated), _evaluation_times(dated)
    of_events = pl.col("time").filter(pl.col("origin") == "event_file")
    ends = dated.group_by("worker", maintain_order=True).agg(pl.col("time").max(), event=of_events.max())
    logs = sources.filter(pl.col("kind") == "log").group_by("worker").agg(pl.col("last_time").max())
    last_log = dict(logs.iter_rows())
    return frame(
        "paces",
        (
            {
                "worker": worker,
                **_pace(steps.get(worker, [])),
                "last_event": event,
                "last_log": (log := last_log.get(worker)),
                "event_behind": None if event is None or log is None else log - event,
                **_evaluation_columns(tests.get(worker, []), last),
            }
            for worker, last, event in ends.iter_rows()
        ),
    )


def _pace(timed: Sequence[Timed]) -> dict[str, Any]:
    found = changes(_downsampled(timed))
    largest = max(found, key=lambda change: abs(math.log(change.after / change.before)), default=None)
    return {
        "steps": len(timed),
        "step_time": median(one.seconds for one in timed) if timed else None,
        "changes": len(found) if timed else None,
        **_change_columns(largest),
    }


def _steps(dated: pl.DataFrame) -> dict[str, list[Timed]]:
    """Return worker → step times, from the source with the most dates; unlogged steps share a gap evenly."""
    shown = ~pl.col("tried") & pl.col("step").is_not_null()
    steps = dated.filter(shown & (pl.col("origin") != "fit") & ~pl.col("tag").str.starts_with("epoch_"))
    times = step_times(steps, ["attempt"]).select("worker", "step", "seconds")
    return grouped((worker, Timed(*timed)) for worker, *timed in times.iter_rows())


def _downsampled(timed: Sequence[Timed]) -> list[Timed]:
    every = math.ceil(len(timed) / _MAX_TESTED)
    if every <= 1:
        return list(timed)
    groups = (timed[at : at + every] for at in range(0, len(timed), every))
    return [Timed(group[0].step, median(one.seconds for one in group)) for group in groups]


def changes(timed: Sequence[Timed]) -> list[Change]:
    """Return every lasting change of step time, in order."""
    at = _change_point([one.seconds for one in timed])
    if at is None:
        return []
    before, after = (median(one.seconds for one in part) for part in (timed[:at], timed[at:]))
    found = [*changes(timed[:at]), Change(timed[at].step, before, after), *changes(timed[at:])]
    return [one for one in found if max(one.after / one.before, one.before / one.after) >= _FACTOR]


def _change_point(values: Sequence[float]) -> int | None:
    """Return the most significant change point (Pettitt's test); None if chance explains it."""
    size = len(values)
    if size < 2 * _MIN_STEPS:
        return None
    total, most, where = 0.0, 0.0, 0
    ranks = pl.Series(values, dtype=pl.Float64).rank("average").to_list()
    for at, rank in enumerate(ranks[:-_MIN_STEPS], 1):
        total += 2 * rank - size - 1
        if at >= _MIN_STEPS and (far := abs(total)) >= most:
            most, where = far, at
    chance = 2 * math.exp(-6 * most**2 / (size**3 + size**2))
    return where if chance < _CHANCE else None


def _change_columns(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {}
    factor = change.after / change.before
    return {"changed_step": change.step, "before": change.before, "after": change.after, "factor": factor}


def _evaluation_times(dated: pl.DataFrame) -> dict[str, list[float]]:
    """Return worker → sorted times of its evaluations: those of the validation metric it logs most often."""
    grouped = dated.filter("tried").group_by("worker", "tag").agg(pl.len(), pl.col("time").unique().sort())
    most: dict[str, tuple[int, str, list[float]]] = {}
    for worker, tag, count, times in grouped.iter_rows():
        most[worker] = max(most.get(worker, (0, "", [])), (count, tag, times))
    return {worker: times for worker, (_, _, times) in most.items()}


def _evaluation_columns(times: Sequence[float], last: float) -> dict[str, Any]:
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return {
        "evaluations": len(times),
        "evaluation_gap": median(gaps) if gaps else None,
        "longest_gap": max(gaps, default=None),
        "since_evaluation": last - times[-1] if times else None,
    }
