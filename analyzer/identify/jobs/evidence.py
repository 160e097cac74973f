"""Tells whether two groups of files, each identified as if it were all of a run, are of different jobs."""

import json
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import polars as pl

from analyzer.identify.claims import task_addresses
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import GUESSES, attempts_in, is_previous, is_task, split_task
from analyzer.tables.clock_alignment import in_other_zone

ADDRESSES = ("server_address", "cluster_spec")
STARTS = (*ADDRESSES, "process_banner")
"""Keys of facts that a process states as it starts."""
REPLICATION = ("replicas", "strategy")
_OUTPUT = (Kind.LOG.value, Kind.RECORDING.value)
"""Kinds of files that a process wrote."""
_LEADING = ("task", "own_device", "leader", "connected")
_KEYS = (*STARTS, *_LEADING, *REPLICATION, "awaits", "attributed")
_FIRST = frozenset({"worker:0", "chief:0"})
_SEVERAL = 2
_MIN_GAP_SECONDS = 60
"""Minimum time between a job of which all logs are there and processes that are none of its own."""
_DAY = 86_400
_SAME_START = 5
"""Seconds by which two collections of one log may differ in the time of a process's start."""

Process = tuple[str, str]
"""(worker, attempt as its log's name states it, else as counted in the log)."""


class JobEvidence(NamedTuple):
    """What a group of files states about its job."""

    began: dict[Process, float]
    """Process whose start is in the logs → time of the first statement about it; infinity if undated."""
    stated: set[Process]
    """Processes that the logs list, await or see connect; evaluators are left out."""
    addresses: set[str]
    evidence: set[str]
    """Reasons to take the group for a whole job: a leader, a first task, addresses of a cluster."""
    replicated: set[str]
    """Workers that state how many replicas they train, or their strategy."""
    guessed: set[str]
    """Workers whose index is a guess."""
    hosts: set[str]
    """Hosts on which servers of the job ran."""
    logged: set[str]
    """Workers with a log."""
    is_configuration: bool
    """True if only files with a configuration, such as TF_CONFIG, state its processes."""
    span: tuple[float, float]
    """First and last time in the logs of processes; (infinity, -infinity) if undated."""

    @property
    def on_one_machine(self) -> bool:
        """Return True if the job is one process without a cluster, as with `MirroredStrategy`."""
        return len(self.began) == 1 and not self.addresses and not self.evidence and bool(self.replicated)

    @property
    def is_whole(self) -> bool:
        """Return True if the group may be a whole job, and not only a part of one."""
        led = self.evidence or self.is_set or any(worker == "chief:0" for worker, _ in self.began)
        return self.on_one_machine or (bool(led) and len(self.began) >= _SEVERAL)

    @property
    def is_set(self) -> bool:
        """Return True if tasks that are no guess, the first one among them, ran on several hosts.

        Names that count anew on each host are of one host, so these count through the job.
        """
        workers = {worker for worker, _ in self.began}
        known = len(workers) >= _SEVERAL and workers.isdisjoint(self.guessed)
        return known and len(self.hosts) >= _SEVERAL and not workers.isdisjoint(_FIRST)

    @property
    def is_complete(self) -> bool:
        """Return True if the group has a log of every task that its logs name, and these are several."""
        tasks = {task for task, _ in self.stated}
        return self.is_whole and len(tasks) >= _SEVERAL and tasks <= self.logged

    def with_first_index(self) -> "JobEvidence":
        """Return the evidence with the only process as its job's first one if its index is a guess."""
        if not {worker for worker, _ in self.began} <= self.guessed:
            return self
        return self._replace(began={("worker:0", attempt): time for (_, attempt), time in self.began.items()})


def job_evidence(identified: Tables) -> JobEvidence:
    """Return what the files of identified tables state about their job."""
    facts = identified["facts"]
    stated = facts.filter(pl.col("key").is_in(_KEYS) & pl.col("worker").is_not_null())
    logs = identified["sources"].filter(pl.col("worker").is_not_null(), kind="log")
    started = facts.filter(pl.col("key").is_in(STARTS))["source"].to_list()
    starting = logs.filter(pl.col("source").is_in(started))
    first, last = starting["first_time"].min(), starting["last_time"].max()
    span = (first, last) if isinstance(first, float) and isinstance(last, float) else (inf, -inf)
    starts = stated.filter(pl.col("key").is_in(STARTS))["source"]
    outputs = identified["sources"].filter(pl.col("kind").is_in(_OUTPUT))["source"]
    configured = starts.len() > 0 and {*outputs}.isdisjoint(starts)
    found = JobEvidence({}, set(), set(), set(), set(), set(), set(), {*logs["worker"]}, configured, span)
    for row in stated.iter_rows(named=True):
        _add_statement(found, row)
    return found


def _add_statement(found: JobEvidence, row: Mapping[str, Any]) -> None:
    key, worker, value, attempt = row["key"], row["worker"], row["value"], _attempt(row)
    if key in STARTS:
        time = inf if row["time"] is None else row["time"]
        found.began[worker, attempt] = min(found.began.get((worker, attempt), inf), time)
    if key == "server_address":
        found.addresses.add(value)
        found.hosts.add(value.rpartition(":")[0])
    elif key == "cluster_spec":
        cluster = task_addresses(json.loads(value))
        found.stated.update((task, attempt) for task in cluster if split_task(task)[0] != "evaluator")
        found.addresses.update(cluster.values())
        found.evidence.update([*cluster.values()][1:])
    elif key in {"connected", "awaits"} and value and is_task(value):
        found.stated.add((value, attempt))
    if key in {"leader", "connected"} or (key in _LEADING and value in _FIRST):
        found.evidence.add(key)
    elif key in REPLICATION:
        found.replicated.add(worker)
    elif key == "attributed" and value in GUESSES:
        found.guessed.add(worker)


def _attempt(row: Mapping[str, Any]) -> str:
    source = row["source"]
    named = ["previous"] if is_previous(source) else attempts_in(source)
    return f"named {' '.join(named)}" if named else str(row["attempt"])


def are_separate(one: JobEvidence, other: JobEvidence) -> bool:
    """Return True if two groups of files are of different jobs.

    Files that only configure a job belong to the logs beside them, even if these show other addresses: the
    program may define the cluster itself.
    """
    if one.is_configuration != other.is_configuration:
        return False
    if one.is_whole and other.is_whole:
        return _are_two_whole_jobs(one, other)
    if one.addresses & other.addresses:
        return False
    if (one.is_set or other.is_set) and _have_other_servers(one, other):
        return True
    least = _MIN_GAP_SECONDS if one.is_complete or other.is_complete else _DAY
    return least < _gap(one, other) < inf and _began_apart(one, other, _SEVERAL)


def _are_two_whole_jobs(one: JobEvidence, other: JobEvidence) -> bool:
    if one.on_one_machine and other.on_one_machine:
        one, other = one.with_first_index(), other.with_first_index()
    sure = (one.is_complete and other.is_complete) or _DAY < _gap(one, other) < inf
    least = 1 if sure or one.on_one_machine or other.on_one_machine else _SEVERAL
    if one.addresses and other.addresses and not one.addresses & other.addresses:
        return len((one.stated | one.began.keys()) & (other.stated | other.began.keys())) >= least
    return _began_apart(one, other, least)


def _have_other_servers(one: JobEvidence, other: JobEvidence) -> bool:
    """Return True if several tasks that are no guess are in both groups, each with servers of its own."""
    both = {worker for worker, _ in one.began.keys() & other.began.keys()} - one.guessed - other.guessed
    return len(both) >= _SEVERAL and bool(one.hosts) and bool(other.hosts)


def _gap(one: JobEvidence, other: JobEvidence) -> float:
    """Return the seconds from the end of one group to the start of the other; negative if they overlap."""
    return max(one.span[0] - other.span[1], other.span[0] - one.span[1])


def _began_apart(one: JobEvidence, other: JobEvidence, least: int) -> bool:
    """Return True if at least `least` processes are in both, and each began at two different times."""
    both = one.began.keys() & other.began.keys()
    return len(both) >= least and all(_starts_differ(one.began[each], other.began[each]) for each in both)


def _starts_differ(one: float, other: float) -> bool:
    """Return True if two start times are known and differ, even if their clocks may have two time zones."""
    return abs(one - other) < inf and not in_other_zone(one, other, _SAME_START)
