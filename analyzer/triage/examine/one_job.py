"""Tells whether sibling directories hold the logs of one job, by what the logs state about their cluster.

A directory for each host, container or rank cannot be told from a directory for each run by names alone.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

_FIRST_SIBLINGS = 4
"""Number of siblings to read before all others; those of runs state nothing in common."""
_MAX_SIBLINGS = 256
"""Maximum number of siblings to read."""
_MIN_DISTINCT = 0.6
"""Minimum share of distinct tasks: one may repeat by a wrong index, but attempts of one job repeat all."""

_CLUSTER = re.compile(
    rb"""cluster(?:_spec)?["']?\s*[=:]\s*(?:ClusterSpec\()?(\{(?:[^{}]|\{[^{}]*\})*\})"""
    rb"""|GrpcChannelCache for job \w+ -> (\{[^}]*\})"""
)
_ADDRESS = re.compile(rb"[\w.-]+:\d{1,5}\b")
_SERVER = re.compile(rb"Started server with target: grpc(?:\+\w+)?://([\w.-]+:\d+)")
_TASK = re.compile(
    rb"""task_type\s*=\s*["']?(?P<type>\w+)["']?,\s*task_id\s*=\s*(?P<id>\d+)"""
    rb"""|["']task["']\s*:\s*\{\s*["']type["']\s*:\s*["'](?P<role>\w+)["']\s*,\s*["']index["']\s*:\s*["']?(?P<index>\d+)"""
    rb"""|available devices: \[["']/job:(?P<job>\w+)/replica:0/task:(?P<task>\d+)/"""
)


class _Statements(NamedTuple):
    """What the logs in one directory state: addresses of their cluster, of their own servers, their tasks."""

    cluster: frozenset[bytes]
    servers: frozenset[bytes]
    tasks: frozenset[tuple[bytes, bytes]]

    def is_one_task(self) -> bool:
        """Return True if the logs are those of one task."""
        return max(len(self.tasks), len(self.servers)) == 1

    def shares_cluster(self, other: "_Statements") -> bool:
        """Return True if an address in the cluster of one is in the other's cluster, or of its server."""
        return bool(self.cluster & (other.cluster | other.servers) or self.servers & other.cluster)


def is_one_job(openings: Iterable[tuple[str, bytes]]) -> bool:
    """Return True if directories, given as (name, first bytes of their logs), hold tasks of one job.

    Their tasks must differ, and each directory must state a cluster of which another one is part, or be named
    after the host of its server. Directories that state nothing do not count. If the first 4 directories fail
    this test, no more are read.
    """
    siblings = iter(openings)
    found = _stating(islice(siblings, _FIRST_SIBLINGS))
    if not _are_one_job(found):
        return False
    return _are_one_job({**found, **_stating(islice(siblings, _MAX_SIBLINGS - _FIRST_SIBLINGS))})


def _stating(openings: Iterable[tuple[str, bytes]]) -> Mapping[str, _Statements]:
    read = {name: _statements(opening) for name, opening in openings}
    return {name: each for name, each in read.items() if each.servers or each.tasks}


def _are_one_job(places: Mapping[str, _Statements]) -> bool:
    every = list(places.values())
    if len(every) < 2 or not all(each.is_one_task() for each in every):
        return False
    tasks = {each.tasks or each.servers for each in every}
    related = (
        name.encode() in {server.rpartition(b":")[0] for server in each.servers}  # it is named after its host
        or any(each.shares_cluster(other) for other in every if other != each)
        for name, each in places.items()
    )
    return len(tasks) > max(1, _MIN_DISTINCT * len(every)) and all(related)


def _statements(opening: bytes) -> _Statements:
    plain = opening.replace(b"\\", b"")  # JSON in a JSON log
    clusters = (spec for match in _CLUSTER.finditer(plain) for spec in match.groups() if spec)
    groups = (match.groupdict() for match in _TASK.finditer(plain))
    return _Statements(
        frozenset(address for spec in clusters for address in _ADDRESS.findall(spec)),
        frozenset(_SERVER.findall(plain)),
        frozenset(
            (found["type"] or found["role"] or found["job"], found["id"] or found["index"] or found["task"])
            for found in groups
        ),
    )
