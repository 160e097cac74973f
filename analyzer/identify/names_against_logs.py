"""Finds logs that state another task than their file names do, where only what they state can be right."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import polars as pl

from analyzer.identify.claims import (
    Claim,
    Cluster,
    claim_of,
    listening,
    stated_by,
    stated_clusters,
    task_addresses,
)
from analyzer.identify.remote_tasks import RemoteTasks
from analyzer.identify.statements import NamedSource, Statements, is_vague
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.task_names import Basis, split_task
from analyzer.tables.grouping import grouped


class StatedTasks(NamedTuple):
    """The tasks of files whose names state others."""

    claims: Mapping[str, Claim]
    """Source → its task."""
    renamed: Mapping[str, str]
    """Task that the job lacks, as names state it → task."""

    def of(self, sources: Sequence[NamedSource]) -> list[NamedSource]:
        """Return the sources with these tasks."""
        return [
            each._replace(worker=claim.worker) if (claim := self.claims.get(each.name)) else each
            for each in sources
        ]

    def in_rows(self, tables: Tables) -> Tables:
        """Return the tables with these tasks in rows that state tasks which the job lacks."""
        if not self.renamed:
            return tables
        renamed = pl.col("worker").replace(self.renamed)
        named = {
            name: rows for name, rows in tables.items() if name != "sources" and "worker" in rows.columns
        }
        return {**tables, **{name: rows.with_columns(worker=renamed) for name, rows in named.items()}}


def stated_against_names(
    sources: Sequence[NamedSource], stated: Statements, tables: Tables, messages: Messages
) -> StatedTasks:
    """Return the tasks of files whose names state a role that the job lacks, or each other's task.

    `chief.log` is of the worker that it says it is if no cluster lists a chief. Logs that have each other's
    names must state their tasks and show them by their servers or peers, and no other file may go by the
    names. A claim against a name may be the fault of the job elsewhere, and changes nothing.
    """
    clusters = stated_clusters(stated)
    named = [each for each in sources if each.worker and not is_vague(each.name)]
    logs = grouped((each.worker, each.name) for each in named if each.is_log and each.worker)
    claims = {worker: claim_of(names, stated, clusters) for worker, names in logs.items()}
    against = {worker: claim for worker, claim in claims.items() if claim and claim.worker != worker}
    if not against:
        return StatedTasks({}, {})
    renamed = _of_missing_roles(against, logs.keys(), clusters)
    remote = RemoteTasks(tables["records"], stated, messages)
    exchanged = {} if renamed else _exchanged(against, logs, stated, clusters, remote)
    moved = [
        each for each in named if each.worker in {*renamed, *exchanged} and not _states_name(each, stated)
    ]
    if exchanged and _is_told_by_others(exchanged, moved, tables["facts"]):
        return StatedTasks({}, {})
    found = renamed | exchanged
    claimed = {each.name: found[each.worker] for each in moved if each.worker}
    return StatedTasks(claimed, {name: claim.worker for name, claim in renamed.items()})


def _of_missing_roles(
    against: Mapping[str, Claim], named: AbstractSet[str], clusters: Sequence[Cluster]
) -> dict[str, Claim]:
    """Return worker in file names → the task that its logs state, for roles that no cluster has.

    Empty unless the tasks are in a cluster, and none of them is among the `named` ones of logs. An evaluator
    is in no cluster.
    """
    roles = {"evaluator", *(role for cluster in clusters for role in cluster)}
    roles |= {"chief"} if "master" in roles else set()
    found = {worker: claim for worker, claim in against.items() if split_task(worker)[0] not in roles}
    listed = {task for cluster in clusters for task in task_addresses(cluster)}
    tasks = [claim.worker for claim in found.values()]
    fit = len({*tasks}) == len(tasks) and listed.issuperset(tasks) and named.isdisjoint(tasks)
    return found if fit else {}


def _exchanged(
    against: Mapping[str, Claim],
    logs: Mapping[str, Sequence[str]],
    stated: Statements,
    clusters: Sequence[Cluster],
    remote: RemoteTasks,
) -> dict[str, Claim]:
    """Return worker in file names → the task that its logs state, for logs with each other's names."""
    tasks = {claim.worker for claim in against.values() if claim.basis is Basis.SAID}
    shown = (
        worker in remote(logs[worker]) or claim.worker in _served(logs[worker], stated, clusters)
        for worker, claim in against.items()
    )
    if len(clusters) != 1 or tasks != against.keys() or not all(shown):
        return {}
    return {worker: Claim(claim.worker, Basis.AGAINST_NAME) for worker, claim in against.items()}


def _served(names: Sequence[str], stated: Statements, clusters: Sequence[Cluster]) -> set[str]:
    """Return the tasks at whose addresses the logs' servers started."""
    servers = [fact.value for fact in stated_by(names, stated) if fact.key == "server_address"]
    return {task for server in servers for task in listening(server, clusters)}


def _states_name(source: NamedSource, stated: Statements) -> bool:
    """Return True if a file states the task in its name as its own."""
    claim = claim_of([source.name], stated, ())
    return claim is not None and claim.worker == source.worker


def _is_told_by_others(
    exchanged: Mapping[str, Claim], moved: Sequence[NamedSource], facts: pl.DataFrame
) -> bool:
    """Return True if files other than the logs tell of the tasks in their names, as exit codes do."""
    if not all(each.is_log for each in moved):
        return True
    logs = [each.name for each in moved]
    return facts.filter(pl.col("worker").is_in([*exchanged]) & ~pl.col("source").is_in(logs)).height > 0
