"""Finds the log of the worker that a kernel log or a dump belongs to, by the host or the stem in its name."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.claims import Claim
from analyzer.identify.statements import NamedSource, Statements, is_vague
from analyzer.model.log_layout import joined_file
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import host_in, is_kernel_log, is_numbered, names_host, split_task
from analyzer.tables.grouping import grouped

_HOST = re.compile(r"(?:grpc://)?([a-z][a-z0-9-]*)", re.IGNORECASE)
_NO_HOSTS = frozenset({"localhost", "worker", "node", "host"})
"""Host names that identify no machine."""
FAR = 16
"""A number in a name that is so many times the number of logs and of known tasks is no index."""
_OF_A_PROCESS = (Kind.STACKS, Kind.ENVIRONMENT, Kind.TF_CONFIG)
"""Kinds of files that describe one process and may be named after its log: `gpu7.pyspy.txt`."""


def logs_on_host(sources: Sequence[NamedSource], stated: Statements) -> dict[str, str]:
    """Return kernel log → log of the worker on the host that its name contains, as `gn-014.dmesg` does.

    A kernel log with the number of a host is of the only worker whose logs its folder has, as `node1/` may.
    Hosts of several workers are left out, and so are kernel logs whose names state the worker by a role.
    """
    servers: dict[str, set[str]] = {}
    for name, facts in stated.items():
        by_nccl = {fact.value for fact in facts if fact.key == "nccl_host"}
        said = {fact.value for fact in facts if fact.key in {"server_address", "host"}}
        for value in said | (by_nccl if len(by_nccl) == 1 else set()):
            if host := _HOST.match(value):
                servers.setdefault(host[1].lower(), set()).add(name)
    kernel_logs = [each for each in sources if each.is_log and is_kernel_log(each.name)]
    hosts = {host: min(logs) for host, logs in servers.items() if len(logs) == 1 and host not in _NO_HOSTS}
    named = {each.name for each in kernel_logs if each.worker is None or is_numbered(each.name)}
    of_hosts = [each.name for each in kernel_logs if is_vague(each.name)]
    neighbours = _only_logs_in_folders(sources) if of_hosts else {}
    beside = {name: log for name in of_hosts if (log := neighbours.get(PurePosixPath(name).parent))}
    return beside | {
        name: log for name in named for host, log in hosts.items() if names_host(name.lower(), host)
    }


def _only_logs_in_folders(sources: Sequence[NamedSource]) -> dict[PurePosixPath, str]:
    """Return folder → a log in it, for the folders, not the top one, of one worker that its logs name."""
    logs = [each for each in sources if each.is_log and each.worker and not is_kernel_log(each.name)]
    folders = grouped((PurePosixPath(each.name).parent, each) for each in logs if not is_vague(each.name))
    return {
        folder: own[0].name
        for folder, own in folders.items()
        if folder != PurePosixPath() and len({each.worker for each in own}) == 1
    }


def logs_of_stem(sources: Sequence[NamedSource], logs: Iterable[str]) -> dict[str, str]:
    """Return file about a process → log with the same stem: `gpu7.pyspy.txt` → `gpu7.log`."""
    stems = {PurePosixPath(log).with_suffix("").as_posix(): log for log in logs}
    files = [each.name for each in sources if each.worker is None and each.kind in _OF_A_PROCESS]
    return {name: stems[stem] for name in files for stem in _stems(name) if stem in stems}


def on_hosts(sources: Sequence[NamedSource], claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """Return file → the only worker whose logs have the same host in their names."""
    logs = grouped((host, claims[each.name]) for each in sources if each.name in claims
                   and (host := host_in(each.name)))  # fmt: skip
    known = {host: own[0] for host, own in logs.items() if len({claim.worker for claim in own}) == 1}
    others = ((each.name, host_in(each.name)) for each in sources if not each.is_log)
    return {name: known[host] for name, host in others if host in known}


def _stems(name: str) -> Iterable[str]:
    """Yield a path without its last suffix, without its last two, and so on."""
    path = PurePosixPath(name)
    while path.suffix:
        path = path.with_suffix("")
        yield path.as_posix()


def without_idle_numbers(
    sources: Sequence[NamedSource],
    training: Collection[str],
    listed: AbstractSet[str],
    spoken: AbstractSet[str],
) -> list[NamedSource]:
    """Return the sources, without the numbers of logs that show no training and are of no task of the job.

    The tasks are those of the logs of `training`, and those that the clusters list and the logs speak of.
    Without a cluster, the number that follows the highest one of them may be that of a task that wrote
    little. A number far above those of the tasks that are listed or spoken of, and of the logs, is none.
    """
    trained = {each.worker for each in sources if each.name in training and each.worker}
    tasks = trained | listed | spoken
    limit = max((split_task(task)[1] for task in tasks), default=0) + (not listed)
    idle = {
        each.name
        for each in sources
        if each.is_log and each.worker and trained and each.worker not in tasks and is_vague(each.name)
        if split_task(each.worker)[1] > limit or listed
    }
    known = listed | spoken
    least = FAR * max(len(known), sum(each.is_log for each in sources))
    far = {
        each.name
        for each in sources
        if known and each.is_log and each.worker and each.worker not in known and is_vague(each.name)
        if split_task(each.worker)[1] >= least
    }
    return [each._replace(worker=None) if each.name in idle | far else each for each in sources]


def parts_of_more_logs(logs: Sequence[str], others: int, tasks: int, records: pl.DataFrame) -> list[str]:
    """Return the logs that are parts of joined files if one of them may hold the error of another process.

    That is so if there are fewer logs, with the `others`, than `tasks`: a process that failed before
    TensorFlow started leaves a traceback, and nothing that shows where its log begins.
    """
    parts = [log for log in logs if joined_file(log)]
    raised = records.filter(pl.col("source").is_in(parts) & (pl.col("kind") == "traceback"))
    return parts if len(logs) + others < tasks and not raised.is_empty() else []
