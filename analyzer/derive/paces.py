"""How fast each worker went, step by step: where that changed for good, and what stopped being written.

A change is found by Pettitt's test, which asks of the ranks of the times alone whether those before some step
differ from those after it; single slow steps, of which every loaded machine has some, do not move it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from analyzer.frames import frame
from analyzer.schema import VALIDATION

_FEWEST = 8
"""Steps on either side of a change."""
_CHANCE = 0.001
_FACTOR = 1.5
"""How much longer or shorter steps must take for it to be called a change."""
_MOST = 2_000
"""Steps looked at; of longer runs, medians of neighbours."""


class Timed(NamedTuple):
    """What a step took, in seconds."""

    step: int
    seconds: float


class Change(NamedTuple):
    """The first step after a change of pace, and the median seconds of a step before and after."""

    step: int
    before: float
    after: float


def paces(scalars: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """One row for each worker whose progress is dated."""
    tried = pl.col("tag").str.contains(VALIDATION) | pl.col("tag").str.starts_with("val_")
    dated = scalars.filter(pl.col("worker").is_not_null() & pl.col("time").is_not_null()).with_columns(
        tried=tried
    )
    steps = _steps(dated)
    return frame(
        "paces",
        (
            _row(str(worker), own, steps.get(str(worker), []), sources)
            for (worker,), own in dated.group_by("worker", maintain_order=True)
        ),
    )


def _row(worker: str, own: pl.DataFrame, timed: Sequence[Timed], sources: pl.DataFrame) -> dict[str, Any]:
    found = changes(_thinned(timed))
    largest = max(found, key=lambda change: abs(math.log(change.after / change.before)), default=None)
    return {
        "worker": worker,
        "steps": len(timed),
        "step_time": median(one.seconds for one in timed) if timed else None,
        "changes": len(found) if timed else None,
        **_told(largest),
        **_written(worker, own, sources),
        **_tried(own.filter("tried"), own["time"].max()),
    }


def _steps(dated: pl.DataFrame) -> dict[str, list[Timed]]:
    """Worker → the seconds of each step, from the source that dates most; steps left out share theirs."""
    shown = ~pl.col("tried") & pl.col("step").is_not_null()
    steps = dated.filter(shown & (pl.col("origin") != "fit") & ~pl.col("tag").str.starts_with("epoch_"))
    most: dict[str, tuple[int, str]] = {}
    for worker, source, count in steps.group_by("worker", "source").len().iter_rows():
        most[worker] = max(most.get(worker, (0, "")), (count, source))
    place = ["worker", "source", "attempt", "step"]
    first = steps.group_by(place).agg(pl.col("time").min()).sort(place).iter_rows()
    found: dict[str, list[Timed]] = {}
    for (*life, step, start), (*other, later, end) in pairwise(first):
        if life == other and life[1] == most[life[0]][1] and end > start:
            found.setdefault(life[0], []).append(Timed(later, (end - start) / (later - step)))
    return found


def _thinned(timed: Sequence[Timed]) -> list[Timed]:
    every = math.ceil(len(timed) / _MOST)
    if every <= 1:
        return list(timed)
    groups = (timed[at : at + every] for at in range(0, len(timed), every))
    return [Timed(group[0].step, median(one.seconds for one in group)) for group in groups]


def changes(timed: Sequence[Timed]) -> list[Change]:
    """Every lasting change of the time that a step takes, in order."""
    at = _split([one.seconds for one in timed])
    if at is None:
        return []
    before, after = (median(one.seconds for one in part) for part in (timed[:at], timed[at:]))
    found = [*changes(timed[:at]), Change(timed[at].step, before, after), *changes(timed[at:])]
    return [one for one in found if max(one.after / one.before, one.before / one.after) >= _FACTOR]


def _split(values: Sequence[float]) -> int | None:
    """Where the values before differ most from those after, where chance does not make them differ so."""
    size = len(values)
    if size < 2 * _FEWEST:
        return None
    total, most, where = 0.0, 0.0, 0
    for at, rank in enumerate(_ranks(values)[:-_FEWEST], 1):
        total += 2 * rank - size - 1
        if at >= _FEWEST and (far := abs(total)) >= most:
            most, where = far, at
    chance = 2 * math.exp(-6 * most**2 / (size**3 + size**2))
    return where if chance < _CHANCE else None


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each, from 1; equal ones share the mean of theirs."""
    return pl.Series(values).rank("average").to_list()


def _told(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {}
    factor = change.after / change.before
    return {"changed_step": change.step, "before": change.before, "after": change.after, "factor": factor}


def _written(worker: object, own: pl.DataFrame, sources: pl.DataFrame) -> dict[str, Any]:
    """Its last event beside the last line of its log."""
    event = own.filter(pl.col("origin") == "event_file")["time"].max()
    log = sources.filter((pl.col("worker") == worker) & (pl.col("kind") == "log"))["last_time"].max()
    behind = None if event is None or log is None else float(log) - float(event)  # type: ignore[arg-type]
    return {"last_event": event, "last_log": log, "event_behind": behind}


def _tried(own: pl.DataFrame, last: Any) -> dict[str, Any]:  # noqa: ANN401 - what polars answers
    """When the model was tried out, by the value that was written most often."""
    by_tag = own.group_by("tag").agg(pl.col("time").unique().sort(), pl.len()).sort("len", "tag")
    times: list[float] = by_tag["time"][-1].to_list() if by_tag.height else []
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return {
        "evaluations": len(times),
        "evaluation_gap": median(gaps) if gaps else None,
        "longest_gap": max(gaps, default=None),
        "since_evaluation": float(last) - times[-1] if times else None,
    }
