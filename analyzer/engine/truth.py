"""Decides which signals hold for each worker; the rows of a signal are counted once for all workers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from analyzer.engine.rule_types import Signal
from analyzer.engine.select import Row, RowsByWorker
from analyzer.tables.grouping import grouped

Truths = Sequence[tuple[str, Mapping[str, bool]]]
"""(subject, signal → whether it holds), one subject for each distinct mapping."""


class Tally:
    """Counts, by worker, of the rows that satisfy one signal."""

    def __init__(self, signal: Signal, rows: RowsByWorker, training: Collection[str]) -> None:
        self._least, self._scope, self._training = signal.at_least, signal.of, training
        self.own = {worker: len(own) for worker, own in rows.items()}
        """Worker → number of its rows."""
        self._all = sum(self.own.values())
        self._named = self._all - self.own.get("", 0)

    @cached_property
    def _short(self) -> frozenset[str]:
        """Return the training workers with too few rows."""
        return frozenset(worker for worker in self._training if not self._enough(worker))

    def _enough(self, worker: str) -> bool:
        return self.own.get(worker, 0) >= self._least

    def holds(self, subject: str, leader: str) -> bool:
        """Return whether the signal holds for a worker; its scope (`of`) says whose rows count."""
        match self._scope:
            case "subject":
                return self._enough(subject)
            case "leader":
                return self._enough(leader)
            case "others":
                return self._named - (self.own.get(subject, 0) if subject else 0) >= self._least
            case "anyone":
                return self._all >= self._least
            case "every_other":
                return self._short <= {subject} and len(self._training) > (subject in self._training)
        return bool(self._training) and not self._short


def rows_of_scope(signal: Signal, rows: RowsByWorker, subject: str, leader: str) -> Iterator[Row]:
    """Yield the rows of those workers that the signal is about, seen from `subject`."""
    if signal.of in {"subject", "leader"}:
        return iter(rows.get(subject if signal.of == "subject" else leader, ()))
    keep_own = signal.of in {"anyone", "everyone"}
    return chain.from_iterable(own for worker, own in rows.items() if keep_own or worker != subject)


def truths_of(
    signals: Mapping[str, Signal],
    seen: Mapping[str, Mapping[str, RowsByWorker]],
    training: Collection[str],
    leader: str,
) -> dict[str, Mapping[str, bool]]:
    """Return subject → signal → whether it holds; `seen` maps subjects to the rows of each signal.

    Subjects for which the same signals hold share one mapping.
    """
    tallies: dict[tuple[str, int], Tally] = {}
    shared: dict[tuple[bool, ...], Mapping[str, bool]] = {}
    truths: dict[str, Mapping[str, bool]] = {}
    for subjects in grouped((id(rows), subject) for subject, rows in seen.items()).values():
        rows, counted = seen[subjects[0]], {}
        for name, signal in signals.items():
            place = name, id(rows[name])
            counted[name] = tallies.get(place) or tallies.setdefault(
                place, Tally(signal, rows[name], training)
            )
        own = [tally.own for tally in counted.values() if tally.own]
        known: dict[tuple[object, ...], Mapping[str, bool]] = {}
        for subject in subjects:
            key = subject and subject in training, *[numbers.get(subject) for numbers in own]
            if (found := known.get(key)) is None:
                truth = {name: tally.holds(subject, leader) for name, tally in counted.items()}
                found = known[key] = shared.setdefault(tuple(truth.values()), truth)
            truths[subject] = found
    return truths


def distinct(truths: Mapping[str, Mapping[str, bool]]) -> Truths:
    """Return (first subject, mapping) for each distinct mapping that `truths_of` returned, in order."""
    first: dict[int, tuple[str, Mapping[str, bool]]] = {}
    for subject, truth in truths.items():
        first.setdefault(id(truth), (subject, truth))
    return list(first.values())
