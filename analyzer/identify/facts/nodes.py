"""Finds the hosts of workers by the directories of their logs, and assigns problems of nodes to workers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.claims import stated_clusters, task_addresses
from analyzer.identify.statements import NamedSource, Statements
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import attempt_of, is_kernel_log, split_task, worker_of
from analyzer.tables.builders import frame, joined
from analyzer.tables.grouping import grouped

_PROBLEM = pl.col("key") == "node_problem"
_SHORT_NAME = r"^(\d+(?:\.\d+){3}|[^\s.:]+)"
"""Regex for a node's name without its domain, or its IPv4 address."""

_WORDS = re.compile(r"[a-z0-9]+")
_OF_KERNEL_LOGS = frozenset(
    {"kernel", "kern", "dmesg", "t", "previous", "boot", "log", "txt", "out", "gz", "zst"}
)
"""Words in the name of a kernel log that are no host's name."""


def with_hosts_of_directories(facts: pl.DataFrame, sources: Sequence[NamedSource]) -> pl.DataFrame:
    """Return the facts with a `host` of each worker whose logs lie in the directory of a host and state none.

    Such directories are those that `mwms-collect` lists, or else those with the kernel log of a host.
    """
    listed = facts.filter(pl.col("key") == "folder_host")["value"].to_list()
    hosts = dict(row.split("\t", 1) for row in listed) or _directories_with_kernel_logs(sources)
    if not hosts:
        return facts
    known = {*facts.filter(pl.col("key") == "host")["worker"]}
    places = (
        (source.worker, (hosts[folder], source.name))
        for source in sources
        if source.is_log and source.worker and source.worker not in known and not is_kernel_log(source.name)
        for folder in map(str, PurePosixPath(source.name).parents)
        if folder in hosts
    )
    found = {worker: dict(on) for worker, on in grouped(places).items()}
    rows = [
        {"worker": worker, "attempt": 1, "key": "host", "value": host, "source": source}
        for worker, on in found.items()
        if len(on) == 1
        for host, source in on.items()
    ]
    return joined("facts", [facts, frame("facts", rows)]) if rows else facts


def _directories_with_kernel_logs(sources: Sequence[NamedSource]) -> Mapping[str, str]:
    """Return directory → its name for the directories that are named after the hosts whose logs they hold.

    They lie side by side, at least one has a kernel log, and none has the number of a task or an attempt.
    A kernel log with a host in its own name tells nothing of its directory.
    """
    of_kernel = [PurePosixPath(each.name) for each in sources if is_kernel_log(each.name)]
    if not of_kernel:
        return {}
    kernel = {path.parent for path in of_kernel if not _names_another_host(path)}
    logs = {
        PurePosixPath(each.name).parent for each in sources if each.is_log and not is_kernel_log(each.name)
    }
    around = {folder.parent for folder in kernel & logs if folder.name}
    beside = {folder for folder in logs if folder.parent in around and _may_be_host(folder.name)}
    return {str(folder): folder.name for folder in beside} if len(beside) > 1 else {}


def _names_another_host(log: PurePosixPath) -> bool:
    """Return True if the name of a kernel log has words that its directory's has not."""
    own, folder = ({*_WORDS.findall(name.lower())} for name in (log.name, log.parent.name))
    return any(any(map(str.isalpha, word)) for word in own - folder - _OF_KERNEL_LOGS)


def _may_be_host(name: str) -> bool:
    return any(map(str.isalpha, name)) and worker_of(name, Kind.OTHER) is None and attempt_of(name) is None


def with_workers_on_nodes(facts: pl.DataFrame, stated: Statements) -> pl.DataFrame:
    """Return the facts with one `node_problem` row for each worker that ran on the node.

    If no worker is known to have run there, the row stays and has no worker.
    """
    problems = facts.filter(_PROBLEM)
    if problems.is_empty():
        return facts
    known = facts.filter(pl.col("key").is_in(["host", "ran_on"]) & pl.col("worker").is_not_null())
    hosts = known.select("worker", "value").rows()
    hosts += _stated_hosts(stated, exclude={worker for worker, _ in hosts}).items()
    places = pl.DataFrame(hosts, schema={"on_it": pl.String, "name": pl.String}, orient="row")
    places = places.select("on_it", node=_short_name("name")).unique(maintain_order=True)
    assigned = problems.with_columns(node=_short_name("value")).join(places, on="node", how="left")
    assigned = assigned.with_columns(worker="on_it")  # not the one whose log reports it
    return pl.concat([facts.filter(~_PROBLEM), assigned.select(facts.columns)])


def with_tasks_of_steps(facts: pl.DataFrame, stated: Statements) -> pl.DataFrame:
    """Return the facts with srun's task numbers replaced by tasks of the TensorFlow cluster.

    srun numbers its tasks over all roles: beside a parameter server or a chief, `task 1` is not `worker:1`.
    If one task alone has its address on the host that srun names, it is that task; otherwise it is unknown.
    """
    specs = map(task_addresses, stated_clusters(stated))
    listed = [(task, host.rpartition(":")[0]) for spec in specs for task, host in spec.items()]
    if all(split_task(task)[0] == "worker" for task, _ in listed):
        return facts
    place = ["source", "line", "worker"]
    tasks = pl.DataFrame(listed, schema=["task", "name"], orient="row").select(
        "task", node=_short_name("name")
    )
    steps = facts.filter(key="ran_on").select(*place, node=_short_name("value"), of_step=True).unique()
    found = steps.join(tasks.unique().filter(pl.len().over("node") == 1), on="node", how="left").drop("node")
    told = facts.join(found, on=place, how="left", maintain_order="left")
    return told.with_columns(worker=pl.when("of_step").then("task").otherwise("worker")).select(facts.columns)


def _short_name(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase().str.extract(_SHORT_NAME)


def _stated_hosts(stated: Statements, exclude: Iterable[str]) -> Mapping[str, str]:
    """Return worker → host of its address, where all cluster specifications agree on it."""
    specs = [task_addresses(cluster) for cluster in stated_clusters(stated)]
    every = {task: {spec[task] for spec in specs if task in spec} for spec in specs for task in spec}
    return {
        task: addresses.pop()
        for task, addresses in every.items()
        if len(addresses) == 1 and task not in set(exclude)
    }
