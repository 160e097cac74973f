"""Decides which signals hold for each worker; the rows of a signal are counted once for all workers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from analyzer.engine.rule_types import Signal
from analyzer.engine.select import Row, RowsByWorker
from analyzer.tables.grouping import grouped


class Alike(NamedTuple):
    """Subjects for which the same signals hold."""

    subjects: list[str]
    truth: Mapping[str, bool]
    """Signal → whether it holds."""


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
        """Return the training workers with too few rows; two of them if there are more."""
        return frozenset(islice((worker for worker in self._training if not self._enough(worker)), 2))

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
    cases: Iterable[tuple[Mapping[str, RowsByWorker], Sequence[str]]],
    training: Collection[str],
    leader: str,
) -> list[Alike]:
    """Group the subjects by which signals hold; a case is the rows of each signal, and who sees those."""
    tallies: dict[tuple[str, int], Tally] = {}
    found: dict[tuple[bool, ...], Alike] = {}
    for rows, subjects in cases:
        counted: dict[str, Tally] = {}
        for name, signal in signals.items():
            place = name, id(rows[name])  # cases share the rows of most signals
            if place not in tallies:
                tallies[place] = Tally(signal, rows[name], training)
            counted[name] = tallies[place]
        varied = [tally.own for tally in counted.values() if len({*map(tally.own.get, subjects)}) > 1]
        numbers = {subject: tuple(own.get(subject) for own in varied) for subject in set().union(*varied)}
        alike = grouped(((numbers.get(each), each and each in training), each) for each in subjects)
        for own in alike.values():
            truth = {name: tally.holds(own[0], leader) for name, tally in counted.items()}
            found.setdefault(tuple(truth.values()), Alike([], truth)).subjects.extend(own)
    return list(found.values())
