"""Equal failures as groups: which are new tonight, known, back after being gone, or gone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

GONE_AFTER_NIGHTS = 7
"""Nights without a failure after which it is gone; one that comes seldom is given more."""
_GAPS_UNTIL_GONE = 3


class GroupStatus(NamedTuple):
    """How a group stands on a night: `new`, `known`, `regressed`, `gone` (since tonight) or `away`."""

    state: str
    first: str
    last: str
    """The night on which it was seen last, tonight included."""
    before: str | None
    """The night on which it was seen last before tonight."""
    runs: int
    tonight: int
    nights: int


def status(counts: Mapping[str, int], nights: Sequence[str]) -> GroupStatus:
    """How a group stands on the last of some nights.

    `counts` has the runs of each night on which it was seen; `nights` are all on which runs were examined, in
    order.
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
    """Nights that may pass without it before it is gone: more for one that always came seldom."""
    gaps = [later - earlier for earlier, later in pairwise(places)]
    return max(GONE_AFTER_NIGHTS, _GAPS_UNTIL_GONE * median(gaps)) if gaps else GONE_AFTER_NIGHTS


def recent(counts: Mapping[str, int], nights: Sequence[str], width: int) -> tuple[int, int]:
    """Runs in the last `width` nights, and in as many before them."""
    numbers = [counts.get(night, 0) for night in nights]
    return sum(numbers[-width:]), sum(numbers[-2 * width : -width])


def up_to(nights: Sequence[str], date: str) -> Sequence[str]:
    """Those of the nights that are not later than a date."""
    return nights[: bisect_right(nights, date)]
