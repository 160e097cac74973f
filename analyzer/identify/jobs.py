"""Rejects a directory that contains several jobs."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.errors import UsageError
from analyzer.model.task_names import listed

_STATED = ("server_address", "cluster_spec", "task", "own_device", "leader", "connected")
_FIRST = frozenset({"worker:0", "chief:0"})


class _Directory(NamedTuple):
    """What the logs below one sub-directory state about their cluster."""

    attempts: set[tuple[str, int]]
    """(worker, attempt) pairs that state an address."""
    addresses: set[str]
    evidence: list[str]
    """Reasons to take the directory for a whole job: a leader, a first task, addresses of a cluster."""


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

    Two directories are two jobs if each has a leader or a cluster, at least two workers occur in both with
    the same attempt, and they share no address. Directories per worker, host, kind of log or attempt do not
    meet these conditions.
    """
    found = _directories(facts).items()
    places = {name: place for name, place in found if place.evidence and len(place.attempts) > 1}
    apart = [pair for pair in combinations(places, 2) if _are_separate(*(places[name] for name in pair))]
    return sorted({name for pair in apart for name in pair}, key=list(places).index)


def _directories(facts: pl.DataFrame) -> Mapping[str, _Directory]:
    """Return sub-directory → its statements, for the sub-directories of the sources' common parent."""
    stated = facts.filter(pl.col("key").is_in(_STATED) & pl.col("worker").is_not_null())
    rows = [(row["source"].split("/")[:-1], row) for row in stated.iter_rows(named=True)]
    same = [len(set(level)) == 1 for level in zip(*(folders for folders, _ in rows), strict=False)]
    depth = [*same, False].index(False)  # folders above all files
    places: dict[str, _Directory] = {}
    for folders, row in rows:
        if len(folders) > depth:
            name = "/".join(folders[: depth + 1])
            _add_statement(places.setdefault(name, _Directory(set(), set(), [])), row)
    return places


def _add_statement(place: _Directory, row: Mapping[str, Any]) -> None:
    if row["key"] in {"server_address", "cluster_spec"}:
        addresses = _addresses(row)
        place.attempts.add((row["worker"], row["attempt"]))
        place.addresses.update(addresses)
        place.evidence.extend(addresses[1:])
    elif row["key"] in {"leader", "connected"} or row["value"] in _FIRST:
        place.evidence.append(row["key"])


def _addresses(row: Mapping[str, Any]) -> list[str]:
    if row["key"] == "server_address":
        return [row["value"]]
    tasks = json.loads(row["value"]).values()
    lists = [list(each.values()) if isinstance(each, dict) else each for each in tasks]
    return [str(address) for each in lists if isinstance(each, list) for address in each]


def _are_separate(one: _Directory, other: _Directory) -> bool:
    return len(one.attempts & other.attempts) > 1 and not one.addresses & other.addresses
