"""Classifies groups of equal failures as new, known, recurring or resolved."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

GONE_AFTER_NIGHTS = 7
"""Minimum number of nights without a failure after which its group counts as resolved."""
_GAPS_UNTIL_GONE = 3


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
    state = _state(
        [place[night] for night in before], place[tonight] if tonight in counts else None, len(nights) - 1
    )
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
    absent = now - before[-1]
    patience = _nights_until_gone(before)
    if tonight is not None:
        return "regressed" if absent > patience else "known"
    if absent <= patience:
        return "known"
    return "gone" if absent - 1 <= patience else "away"


def _nights_until_gone(places: Sequence[int]) -> float:
    """Return after how many nights without a run a group counts as resolved; more for rare groups."""
    gaps = [later - earlier for earlier, later in pairwise(places)]
    return max(GONE_AFTER_NIGHTS, _GAPS_UNTIL_GONE * median(gaps)) if gaps else GONE_AFTER_NIGHTS


def recent(counts: Mapping[str, int], nights: Sequence[str], width: int) -> tuple[int, int]:
    """Return the numbers of runs in the last `width` nights, and in the `width` nights before them."""
    numbers = [counts.get(night, 0) for night in nights]
    return sum(numbers[-width:]), sum(numbers[-2 * width : -width])


def up_to(nights: Sequence[str], date: str) -> Sequence[str]:
    """Return the nights up to and including a date."""
    return nights[: bisect_right(nights, date)]
