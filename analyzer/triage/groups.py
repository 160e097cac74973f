"""Classifies groups of equal failures as new, known, recurring or resolved.

A group is resolved, and recurs later, only if its base rate makes the absence news: the nights on which it
occurs are taken as independent with an unknown rate, so that the probability of an absence follows from the
nights before it (beta-geometric distribution). A failure that was seen once is never resolved.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

GONE_AFTER_NIGHTS = 7
"""Minimum number of nights without a failure after which its group counts as resolved."""
ABSENCE_PROBABILITY = 0.0003
"""Probability below which an absence is news.

60 groups at random rates from 1 in 2 to 1 in 30 give one wrong piece of news in ten seasons of 60 nights.
"""
_PRIOR = (0.5, 1.0)
"""Parameters of the beta distribution of rates; most failures are rare."""


class GroupStatus(NamedTuple):
    """State of a group on a night: `new`, `known`, `regressed`, `gone` (since tonight) or `away` (longer)."""

    state: str
    first: str
    last: str
    """The last night with a run of the group, including tonight."""
    before: str | None
    """The last night with a run of the group before tonight."""
    runs: int
    tonight: int
    nights: int


def status(counts: Mapping[str, int], nights: Sequence[str]) -> GroupStatus:
    """Return the state of a group on the last of the nights.

    `counts` has the number of runs by night; `nights` are all nights with examined runs, in order.
    """
    tonight, place = nights[-1], {night: number for number, night in enumerate(nights)}
    seen = sorted(counts)
    before = [night for night in seen if night != tonight]
    this_night = place[tonight] if tonight in counts else None
    state = _state([place[night] for night in before], this_night, len(nights) - 1)
    return GroupStatus(
        state=state,
        first=seen[0],
        last=seen[-1],
        before=before[-1] if before else None,
        runs=sum(counts.values()),
        tonight=counts.get(tonight, 0),
        nights=len(seen),
    )


def _state(before: Sequence[int], tonight: int | None, now: int) -> str:
    if not before:
        return "new"
    absent = now - before[-1] - 1 if tonight is not None else now - before[-1]
    if not _is_news(before, absent):
        return "known"
    if tonight is not None:
        return "regressed"
    return "away" if _is_news(before, absent - 1) else "gone"


def _is_news(places: Sequence[int], absent: int) -> bool:
    """Return True if `absent` nights without the group are improbable, given those on which it occurred."""
    if absent < GONE_AFTER_NIGHTS:
        return False
    again, without = len(places) - 1, places[-1] - places[0] - (len(places) - 1)
    a, b = _PRIOR[0] + again, _PRIOR[1] + without
    log = math.lgamma(b + absent) - math.lgamma(b) + math.lgamma(a + b) - math.lgamma(a + b + absent)
    return log < math.log(ABSENCE_PROBABILITY)


def recent(counts: Mapping[str, int], nights: Sequence[str], width: int) -> tuple[int, int]:
    """Return the numbers of runs in the last `width` nights, and in the `width` nights before them."""
    numbers = [counts.get(night, 0) for night in nights]
    return sum(numbers[-width:]), sum(numbers[-2 * width : -width])


def up_to(nights: Sequence[str], date: str) -> Sequence[str]:
    """Return the nights up to and including a date."""
    return nights[: bisect_right(nights, date)]
