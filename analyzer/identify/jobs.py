"""Rejects a directory that contains several jobs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, combinations
from math import inf
from typing import Any, NamedTuple

import polars as pl

from analyzer.identify.claims import task_addresses
from analyzer.model.errors import UsageError
from analyzer.model.task_names import GUESSES, listed
from analyzer.tables.grouping import grouped

_ADDRESSES = ("server_address", "cluster_spec")
_STARTS = (*_ADDRESSES, "process_banner")
_LEADING = ("task", "own_device", "leader", "connected")
_REPLICATION = ("replicas", "strategy")
_FIRST = frozenset({"worker:0", "chief:0"})
_SEVERAL = 2
_ZONE_STEP = 900
"""Seconds; clocks of two time zones differ by a multiple of it."""
_DAY = 86_400
"""Seconds; a job that began as much later at the same time of day is the next night's."""
_SAME_START = 5
"""Seconds by which two collections of one log may differ in the time of a process's start."""

Process = tuple[str, int]
"""(worker, attempt)."""


class _Directory(NamedTuple):
    """What the logs below one directory state about their cluster."""

    began: dict[Process, float]
    """Process whose start is in the logs → time of the first statement about it; infinity if undated."""
    known: set[Process]
    """These processes, and those of stated clusters."""
    addresses: set[str]
    evidence: set[str]
    """Reasons to take the directory for a whole job: a leader, a first task, addresses of a cluster."""
    replicated: set[str]
    """Workers that state how many replicas they train, or their strategy."""
    guessed: set[str]
    """Workers whose index is a guess."""

    @property
    def on_one_machine(self) -> bool:
        """Return True if the job is one process without a cluster, as with `MirroredStrategy`."""
        return len(self.began) == 1 and not self.addresses and not self.evidence and bool(self.replicated)

    @property
    def is_whole(self) -> bool:
        """Return True if the directory may hold a whole job, and not only a part of one."""
        led = self.evidence or any(worker == "chief:0" for worker, _ in self.began)
        return self.on_one_machine or (bool(led) and len(self.began) >= _SEVERAL)

    def with_first_index(self) -> "_Directory":
        """Return the directory with the only process as its job's first one if its index is a guess."""
        if not {worker for worker, _ in self.began} <= self.guessed:
            return self
        began = {("worker:0", attempt): time for (_, attempt), time in self.began.items()}
        return self._replace(began=began, known={*began})


def require_one_job(name: str, facts: pl.DataFrame) -> None:
    """Check that the run holds only one job.

    Raises:
        UsageError: the run contains several jobs.

    """
    if jobs := several_jobs(facts):
        raise UsageError(
            f"{name}: these look like {len(jobs)} jobs: {listed(jobs)}; give one of them, "
            "or all of them to mwms-triage (if they are attempts of one job, call them attempt-1, attempt-2)"
        )


def several_jobs(facts: pl.DataFrame) -> list[str]:
    """Return the sub-directories that each contain a job; empty if all files may belong to one job.

    Two directories side by side, at any depth, are two jobs if each may hold a whole one, at least two
    processes occur in both (one, if either is a job on one machine), and they share no address or their
    processes began at different times. Directories per worker, host, kind of log or attempt do not meet
    these conditions, nor does a copy of a job.
    """
    directories = _directories(facts)
    below: dict[str, list[str]] = grouped((name.rpartition("/")[0], name) for name in directories)
    return _jobs_below("", below, directories)


def _jobs_below(
    place: str, below: Mapping[str, Sequence[str]], directories: Mapping[str, _Directory]
) -> list[str]:
    """Return the directories of the jobs in one directory; empty if it holds one job, or a part of one."""
    inner = {name: _jobs_below(name, below, directories) for name in below.get(place, ())}
    places = [each for name, jobs in inner.items() for each in jobs or [name] if directories[each].is_whole]
    pairs = [pair for pair in combinations(places, 2) if _are_separate(*map(directories.__getitem__, pair))]
    apart = {name for pair in pairs for name in pair}
    return _without_copies([name for name in places if name in apart], directories)


def _without_copies(names: Iterable[str], directories: Mapping[str, _Directory]) -> list[str]:
    """Return the directories, of several with the same job the first."""
    found: list[str] = []
    for name in names:
        if all(_are_separate(directories[name], directories[other]) for other in found):
            found.append(name)
    return found


def _directories(facts: pl.DataFrame) -> Mapping[str, _Directory]:
    """Return directory → its statements, for each directory with sources below it."""
    keys = (*_STARTS, *_LEADING, *_REPLICATION, "attributed")
    stated = facts.filter(pl.col("key").is_in(keys) & pl.col("worker").is_not_null())
    places: dict[str, _Directory] = {}
    for row in stated.iter_rows(named=True):
        for name in _parents(row["source"]):
            _add_statement(places.setdefault(name, _Directory({}, set(), set(), set(), set(), set())), row)
    return places


def _parents(source: str) -> Iterable[str]:
    """Return the directories above a source, topmost first."""
    return accumulate(source.split("/")[:-1], "{}/{}".format)


def _add_statement(place: _Directory, row: Mapping[str, Any]) -> None:
    key, worker = row["key"], row["worker"]
    if key in _STARTS:
        process = worker, row["attempt"]
        time = inf if row["time"] is None else row["time"]
        place.began[process] = min(place.began.get(process, inf), time)
        place.known.add(process)
    if key == "server_address":
        place.addresses.add(row["value"])
    elif key == "cluster_spec":
        cluster = task_addresses(json.loads(row["value"]))
        place.known.update((task, row["attempt"]) for task in cluster)
        place.addresses.update(cluster.values())
        place.evidence.update([*cluster.values()][1:])
    elif key in {"leader", "connected"} or (key in _LEADING and row["value"] in _FIRST):
        place.evidence.add(key)
    elif key in _REPLICATION:
        place.replicated.add(worker)
    elif key == "attributed" and row["value"] in GUESSES:
        place.guessed.add(worker)


def _are_separate(one: _Directory, other: _Directory) -> bool:
    if one.on_one_machine and other.on_one_machine:
        one, other = one.with_first_index(), other.with_first_index()
    least = 1 if one.on_one_machine or other.on_one_machine else _SEVERAL
    if one.addresses and other.addresses and not one.addresses & other.addresses:
        return len(one.known & other.known) >= least
    both = one.began.keys() & other.began.keys()
    return len(both) >= least and all(_differ(one.began[each], other.began[each]) for each in both)


def _differ(one: float, other: float) -> bool:
    """Return True if two times of a start are known, and are not the same one in two time zones."""
    apart = abs(one - other)
    is_whole_step = min(apart % _ZONE_STEP, -apart % _ZONE_STEP) <= _SAME_START
    return apart < inf and not (is_whole_step and apart < _DAY - _SAME_START)
