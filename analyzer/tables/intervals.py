"""Intervals of time as (start, end) pairs: their union, their difference, and the seconds that they cover."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TypeVar

Interval = tuple[float, float]
Moment = TypeVar("Moment", int, float)


def union(intervals: Iterable[tuple[Moment, Moment]], gap: float = 0) -> list[tuple[Moment, Moment]]:
    """Return sorted, disjoint intervals that cover the same time, merging those at most `gap` apart."""
    joined: list[tuple[Moment, Moment]] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def difference(intervals: Sequence[Interval], taken: Sequence[Interval]) -> list[Interval]:
    """Return the parts of `intervals` outside `taken`; both must be sorted and disjoint."""
    left = []
    at = 0
    for start, end in intervals:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        behind = at
        while start < end and behind < len(taken) and taken[behind][0] < end:
            if taken[behind][0] > start:
                left.append((start, taken[behind][0]))
            start = max(start, taken[behind][1])
            behind += 1
        if start < end:
            left.append((start, end))
    return left


def seconds_within(intervals: Sequence[Interval], start: float, end: float) -> float:
    """Return the seconds of a union that lie between two times."""
    first = max(0, bisect_left(intervals, (start, start)) - 1)
    last = bisect_left(intervals, (end, end))
    return sum(max(0.0, min(end, until) - max(start, since)) for since, until in intervals[first:last])
