"""Rejects a directory that holds several jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.errors import UsageError

_STATED = ("server_address", "cluster_spec", "task", "own_device", "leader", "connected")
_FIRST = frozenset({"worker:0", "chief:0"})


class _Place(NamedTuple):
    """Statements found below one sub-directory."""

    lives: set[tuple[str, int]]
    """The workers and attempts that have an address."""
    addresses: set[str]
    whole: list[str]
    """Why it is a job and not a part of one: a leader, a first task, the addresses of a cluster."""


def require_one_job(name: str, facts: pl.DataFrame) -> None:
    """Check that the run holds only one job.

    Raises:
        UsageError: it holds several.

    """
    if jobs := several_jobs(facts):
        raise UsageError(
            f"{name}: these look like {len(jobs)} jobs: {_listed(jobs)}; give one of them "
            "(if they are attempts of one job, call them attempt-1, attempt-2)"
        )


def _listed(jobs: list[str]) -> str:
    shown, hidden = (jobs, 0) if len(jobs) <= 4 else (jobs[:3], len(jobs) - 3)
    return ", ".join(shown) + (f" and {hidden} more" if hidden else "")


def several_jobs(facts: pl.DataFrame) -> list[str]:
    """Return the sub-directories that hold a job each; empty if all files may belong to one job.

    Two directories are two jobs if each has a leader or a cluster, at least two workers occur in both with
    the same attempt, and they share no address. Directories per worker, host, kind of log or attempt do not
    qualify.
    """
    places = _places(facts)
    apart = [pair for pair in combinations(places, 2) if _apart(*(places[name] for name in pair))]
    return sorted({name for pair in apart for name in pair}, key=list(places).index)


def _places(facts: pl.DataFrame) -> Mapping[str, _Place]:
    """Return sub-directory → its statements, for the sub-directories of the sources' common parent."""
    stated = facts.filter(pl.col("key").is_in(_STATED) & pl.col("worker").is_not_null())
    rows = [(row["source"].split("/")[:-1], row) for row in stated.iter_rows(named=True)]
    depth = _shared([folders for folders, _ in rows])
    places: dict[str, _Place] = {}
    for folders, row in rows:
        if len(folders) > depth:
            name = "/".join(folders[: depth + 1])
            _note(places.setdefault(name, _Place(set(), set(), [])), row)
    return places


def _shared(paths: list[list[str]]) -> int:
    """Return the number of leading folders that all paths share."""
    same = [len(set(level)) == 1 for level in zip(*paths, strict=False)]
    return [*same, False].index(False)


def _note(place: _Place, row: Mapping[str, Any]) -> None:
    if row["key"] in {"server_address", "cluster_spec"}:
        addresses = _addresses(row)
        place.lives.add((row["worker"], row["attempt"]))
        place.addresses.update(addresses)
        place.whole.extend(addresses[1:])
    elif row["key"] in {"leader", "connected"} or row["value"] in _FIRST:
        place.whole.append(row["key"])


def _addresses(row: Mapping[str, Any]) -> list[str]:
    if row["key"] == "server_address":
        return [row["value"]]
    tasks = json.loads(row["value"]).values()
    lists = [list(each.values()) if isinstance(each, dict) else each for each in tasks]
    return [str(address) for each in lists if isinstance(each, list) for address in each]


def _apart(one: _Place, other: _Place) -> bool:
    whole = bool(one.whole and other.whole)
    return whole and len(one.lives & other.lives) > 1 and not one.addresses & other.addresses
