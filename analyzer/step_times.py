"""What each step took, by the source of a worker that dates most of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import polars as pl


class StepTime(NamedTuple):
    """What a step took, in seconds, and when it was shown."""

    step: int
    seconds: float
    time: float


def step_times(dated: pl.DataFrame, within: Sequence[str]) -> dict[str, list[StepTime]]:
    """Worker → the time of each of its steps; steps that are not shown share what passed.

    `dated` holds rows of `scalars` with worker, time and step; steps are counted `within` these columns.
    """
    most = busiest(dated.group_by("worker", "source").len().iter_rows())
    place = ["worker", "source", *within, "step"]
    first = dated.group_by(place).agg(pl.col("time").min()).sort(place).iter_rows()
    found: dict[str, list[StepTime]] = {}
    for (*life, step, start), (*other, later, end) in pairwise(first):
        if life == other and life[1] == most[life[0]] and end > start:
            found.setdefault(life[0], []).append(StepTime(later, (end - start) / (later - step), end))
    return found


def busiest(counts: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Worker → the source with the highest count; of several, the last by name."""
    most: dict[str, tuple[int, str]] = {}
    for worker, source, count in counts:
        most[worker] = max(most.get(worker, (0, "")), (count, source))
    return {worker: source for worker, (_, source) in most.items()}
