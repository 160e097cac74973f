"""Which machine is guilty again and again, whoever it works with.

Were no machine worse than another, the culprit of a failed run would be each of its machines as often as it
has workers there. A busy machine is in many failed runs, and as often beside the culprit: that is allowed
for. Runs with the same partners tell little more than one of them, so each set of partners counts once. The
bound is Hoeffding's, which holds whatever the single chances are; the correction for many machines is Holm's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

FALSE_ACCUSATION_RATE = 0.01
"""The chance that any machine at all is accused where none is worse than another."""
_MIN_PAIRINGS = 3
"""Sets of partners with which a machine must have been the culprit."""
NOT_HOST_OWNERS = frozenset({"user_code", "data", "config"})
"""Whose failures are no machine's doing, wherever they strike."""


class Share(NamedTuple):
    """One machine of one failed run: its workers, and those of them that are culprits."""

    run: int
    host: str
    workers: int
    culprits: int


class Suspect(NamedTuple):
    """A machine that is the culprit more often than chance allows.

    `runs` failed with it and `guilty` of them by it; it worked with so many sets of partners (`pairings`) and
    was the culprit with so many of them (`bad`). `bound` is the chance of that at most, if it were as good as
    its partners.
    """

    host: str
    runs: int
    guilty: int
    pairings: int
    bad: int
    partners: int
    bound: float
    ids: tuple[int, ...]
    """The runs in which it is the culprit."""


class _Trial(NamedTuple):
    run: int
    partners: frozenset[str]
    chance: float
    guilt: float


def suspects(shares: Iterable[Share]) -> list[Suspect]:
    """The machines that are accused, the surest first; `shares` are those of all failed runs."""
    trials: dict[str, list[_Trial]] = defaultdict(list)
    by_run: dict[int, list[Share]] = defaultdict(list)
    for share in shares:
        by_run[share.run].append(share)
    for together in by_run.values():
        for host, trial in _trials(together):
            trials[host].append(trial)
    judged = sorted(
        (_test_host(host, each) for host, each in trials.items()), key=lambda s: (s.bound, s.host)
    )
    return [each for each in _significant(judged) if each.bad >= _MIN_PAIRINGS]


def _trials(together: Sequence[Share]) -> Iterable[tuple[str, _Trial]]:
    workers, culprits = sum(each.workers for each in together), sum(each.culprits for each in together)
    if len(together) < 2 or not culprits:  # a machine alone is no better or worse than its partners
        return
    names = frozenset(each.host for each in together)
    for run, host, held, guilty in together:
        yield host, _Trial(run, names - {host}, held / workers, guilty / culprits)


def _test_host(host: str, trials: Sequence[_Trial]) -> Suspect:
    pairings: dict[frozenset[str], list[_Trial]] = defaultdict(list)
    for trial in trials:
        pairings[trial.partners].append(trial)
    chances = [sum(each.chance for each in same) / len(same) for same in pairings.values()]
    guilts = [sum(each.guilt for each in same) / len(same) for same in pairings.values()]
    guilty = [each for each in trials if each.guilt]
    return Suspect(
        host=host,
        runs=len(trials),
        guilty=len(guilty),
        pairings=len(pairings),
        bad=sum(guilt > 0 for guilt in guilts),
        partners=len(frozenset().union(*pairings)),
        bound=_hoeffding_bound(len(pairings), sum(guilts) / len(guilts), sum(chances) / len(chances)),
        ids=tuple(sorted(each.run for each in guilty)),
    )


def _hoeffding_bound(count: int, guilt: float, chance: float) -> float:
    """At most so likely is a mean of `guilt` over `count` independent pairings, if `chance` is expected."""
    if guilt <= chance:
        return 1.0
    distance = guilt * math.log(guilt / chance)
    if guilt < 1:
        distance += (1 - guilt) * math.log((1 - guilt) / (1 - chance))
    return math.exp(-count * distance)


def _significant(judged: Sequence[Suspect]) -> Iterable[Suspect]:
    """Holm's procedure: the k-th of m bounds, in order, may be as large as ERROR / (m - k + 1)."""
    for number, each in enumerate(judged):
        if each.bound * (len(judged) - number) > FALSE_ACCUSATION_RATE:
            return
        yield each
