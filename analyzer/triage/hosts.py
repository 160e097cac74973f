"""Finds machines that cause failures repeatedly, independent of the machines they run with.

Under the null hypothesis that all machines are equally good, each is the culprit in proportion to its share
of a failed run's workers, so a busy machine is not accused for taking part in many failed runs. Runs with
the same partners are not independent, so each set of partners (a pairing) counts once. The test uses
Hoeffding's bound, which assumes no distribution, and Holm's correction for testing many machines.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

FALSE_ACCUSATION_RATE = 0.01
"""Maximum probability that any machine is accused if all are equally good."""
_MIN_PAIRINGS = 3
"""Minimum number of sets of partners with which an accused machine was the culprit."""
NOT_HOST_OWNERS = frozenset({"user_code", "data", "config"})
"""Values of a rule's `owner` whose failures never count against a machine."""


class Share(NamedTuple):
    """One machine of one failed run, with the numbers of its workers and of the culprits among them."""

    run: int
    host: str
    workers: int
    culprits: int


class Suspect(NamedTuple):
    """A machine that is the culprit more often than chance explains.

    The machine took part in `runs` failed runs and was the culprit in `guilty` of them. It had `pairings`
    sets of partners and was the culprit with `bad` of them. `bound` is an upper bound of the probability of
    that (p-value) if the machine is as good as its partners.
    """

    host: str
    runs: int
    guilty: int
    pairings: int
    bad: int
    partners: int
    bound: float
    ids: tuple[int, ...]
    """Database IDs of the runs in which the machine is the culprit."""


class _Trial(NamedTuple):
    run: int
    partners: frozenset[str]
    chance: float
    guilt: float


def suspects(shares: Iterable[Share]) -> list[Suspect]:
    """Return the accused machines, lowest p-value first, given all machines of all failed runs."""
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
    if len(together) < 2 or not culprits:  # without partners there is nothing to compare with
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
    """Return Hoeffding's upper bound of P(mean of `count` pairings ≥ `guilt`) for expectation `chance`."""
    if guilt <= chance:
        return 1.0
    distance = guilt * math.log(guilt / chance)
    if guilt < 1:
        distance += (1 - guilt) * math.log((1 - guilt) / (1 - chance))
    return math.exp(-count * distance)


def _significant(judged: Sequence[Suspect]) -> Iterable[Suspect]:
    """Yield the significant machines after Holm: each k-th of m bounds is at most rate / (m - k + 1)."""
    for number, each in enumerate(judged):
        if each.bound * (len(judged) - number) > FALSE_ACCUSATION_RATE:
            return
        yield each
