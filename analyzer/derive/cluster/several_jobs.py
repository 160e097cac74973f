"""Finds workers with logs in several places that may be of several jobs, though nothing proves it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.task_names import attempt_of, is_previous, is_rotated, listed, without_task
from analyzer.tables.clock_alignment import in_other_zone
from analyzer.tables.grouping import grouped

_STARTS = ("server_address", "process_banner")
_SIZES = ("num_workers", "replicas")
_SAID_AT_START = (*_STARTS, *_SIZES, "task", "tensorflow", "strategy")
_SAME_START_SECONDS = 5.0
_SAME_LINE_SECONDS = 0.002
"""By how much the times of one line may differ in two copies, time zones aside: they may be rounded."""
_MIN_GAP_SECONDS = 60.0
"""Least time between two logs of one worker for them to be of two processes, if both show a start."""
_LONG_GAP_SECONDS = 3_600.0
"""The same, whatever they show."""
_SLURM_JOB = re.compile(r"(?<![a-z])slurm-\d+", re.IGNORECASE)
_SEVERAL = 2

Span = tuple[float, float]


class _Statements(NamedTuple):
    """What the logs of one worker in one place state about its process."""

    values: Mapping[str, AbstractSet[str]]
    """Key of a fact → its values."""
    starts: Mapping[str, float]
    """Key of a fact that states a start → its first time, if dated."""
    span: Span | None
    """First and last time; None if undated."""


def in_several_places(sources: pl.DataFrame, facts: pl.DataFrame) -> dict[str, str]:
    """Return worker → why its logs, which lie in several places, may be of several jobs.

    A place is a directory, or what the names in a directory have besides the task. Logs that are named as
    attempts or older parts are left out.
    """
    own = sources.filter(pl.col("worker").is_not_null(), kind="log")
    logs = own.select("source", "worker", "first_time", "last_time").to_dicts()
    whole = [log for log in logs if is_whole(log["source"])]
    stated = _stated(facts, {log["source"] for log in whole})
    found = dict(_in_other_clusters(sources, facts))
    found |= dict(_in_jobs_of_slurm(whole))
    for worker, mine in grouped((log["worker"], log) for log in whole).items():
        places = grouped((_place(log["source"]), log) for log in mine) if len(mine) >= _SEVERAL else {}
        if len(places) < _SEVERAL:
            continue
        said = {place: _statements(each, stated) for place, each in places.items()}
        first, *others = said
        why = {place: reason for place in others if (reason := _why_two(said[first], said[place]))}
        if why:
            found[worker] = _sentence([first, *why], f"{worker} {next(iter(why.values()))}")
    return found


def _sentence(places: Sequence[str], reason: str) -> str:
    jobs = "two jobs" if len(places) == _SEVERAL else f"{len(places)} jobs"
    return f"{listed(places)} may be {jobs}: {reason}"


def _in_other_clusters(sources: pl.DataFrame, facts: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield (worker, reason) for logs that belong to none, for they state a task that another log has.

    They count if no address of their clusters is one of the logs that have a worker.
    """
    logs = sources.filter(kind="log").select("source", "worker").iter_rows()
    owners = {source: worker for source, worker in logs if is_whole(source)}
    specs = facts.filter(pl.col("source").is_in([*owners]), key="cluster_spec")
    addresses: dict[str, set[str]] = {}
    for source, spec in specs.select("source", "value").iter_rows():
        addresses.setdefault(source, set()).update(_addresses(json.loads(spec)))
    known = {each for source in addresses if owners[source] for each in addresses[source]}
    tasks = dict(facts.filter(key="task").select("source", "value").iter_rows())
    held = {worker: source for source, worker in owners.items() if worker and source in addresses}
    for source, own in addresses.items():
        task = tasks.get(source)
        if task and owners[source] is None and task in held and own.isdisjoint(known):
            yield task, _sentence([held[task], source], f"{task} is in a different cluster in each")


def _addresses(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of a cluster."""
    for addresses in spec.values():
        yield from map(str, addresses.values() if isinstance(addresses, dict) else addresses)


def is_whole(source: str) -> bool:
    """Return True for a log whose name makes it no rotated part, and of no certain attempt."""
    return not (is_rotated(source) or is_previous(source) or attempt_of(source) is not None)


def _place(source: str) -> str:
    """Return the directory of a log, and in the top one what its name has besides the task."""
    file = source.partition("#")[0]
    path = PurePosixPath(file)
    if (folder := path.parent.as_posix()) != ".":
        return folder
    words = without_task(file)
    return words or (_words(path.stem) if words is None else "") or "the other files"


def _words(stem: str) -> str:
    return "-".join(re.findall(r"[^\W\d_]+", stem))


def _stated(facts: pl.DataFrame, logs: AbstractSet[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return log → what it states about the start of its process."""
    rows = facts.filter(pl.col("key").is_in(_SAID_AT_START) & pl.col("source").is_in([*logs]))
    return grouped((row["source"], row) for row in rows.iter_rows(named=True))


def _statements(
    logs: Iterable[Mapping[str, Any]], stated: Mapping[str, Sequence[Mapping[str, Any]]]
) -> _Statements:
    logs = list(logs)
    rows = [row for log in logs for row in stated.get(log["source"], ())]
    values = grouped((row["key"], row["value"]) for row in rows)
    times = grouped(
        (row["key"], row["time"]) for row in rows if row["key"] in _STARTS and row["time"] is not None
    )
    starts = {key: min(own) for key, own in times.items()}
    dated = [log for log in logs if log["first_time"] is not None and log["last_time"] is not None]
    span = (
        (min(log["first_time"] for log in dated), max(log["last_time"] for log in dated)) if dated else None
    )
    return _Statements({key: {*own} for key, own in values.items()}, starts, span)


def _why_two(one: _Statements, other: _Statements) -> str:
    """Return why two groups of logs cannot be of one process; empty if nothing tells."""
    common = one.values.keys() & other.values.keys()
    differing = {key for key in common if one.values[key].isdisjoint(other.values[key])}
    if "server_address" in differing:
        return "has a server at a different address in each"
    if _began_twice(one.starts, other.starts):
        return "began at a different time in each"
    if not differing.isdisjoint(_SIZES):
        return "states a different number of workers in each"
    least = _MIN_GAP_SECONDS if common else _LONG_GAP_SECONDS
    return "ran at a different time in each" if _gap(one.span, other.span) > least else ""


def _began_twice(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return True if two starts are neither of one time nor the same lines by clocks of two time zones.

    Jobs that a timer starts are whole hours apart, too: only lines of equal times, zones aside, are the same.
    """
    if not one or not other:
        return False
    first, second = min(one.values()), min(other.values())
    if abs(first - second) <= _SAME_START_SECONDS:
        return False
    common = one.keys() & other.keys()
    if common:
        return not any(in_other_zone(one[key], other[key], _SAME_LINE_SECONDS) for key in common)
    return not in_other_zone(first, second, _SAME_START_SECONDS)


def _gap(one: Span | None, other: Span | None) -> float:
    """Return the seconds between two spans; 0 if they may be of one time by clocks of two time zones."""
    if not one or not other or in_other_zone(one[0], other[0], _SAME_START_SECONDS):
        return 0.0
    return max(one[0] - other[1], other[0] - one[1])


def _in_jobs_of_slurm(logs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield (worker, reason) if the logs are named after several jobs of Slurm, one with several workers."""
    named = ((_SLURM_JOB.search(log["source"]), log["worker"]) for log in logs)
    jobs = grouped((job[0].lower(), worker) for job, worker in named if job)
    if len(jobs) >= _SEVERAL and any(len({*workers}) >= _SEVERAL for workers in jobs.values()):
        reason = _sentence([*jobs], "Slurm's job ids in their names differ")
        yield from ((worker, reason) for workers in jobs.values() for worker in workers)
