"""Finds the task that a log states as its own, by its words or by the address of its server."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from analyzer.identify.statements import SAID_AT_START, NamedSource, Statement, Statements
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import Basis, is_numbered, is_task, log_of, without_attempt
from analyzer.tables.grouping import grouped, only_values

Cluster = Mapping[str, Sequence[str]]
"""Role → addresses in index order, as in a `cluster_spec`."""
_TASK_OF = {"task": "{}", "own_device": "{}", "created_device": "{}", "global_rank": "worker:{}"}
"""Key of a fact that a log states of itself → its value as a task, the most telling first."""

_SAID_ONCE = {"server_address", *SAID_AT_START} - {"task"}
"""Keys of facts that a process logs once, at its start."""

_CONFIG_OF = re.compile(r"tf[-_]?config[-_.](?P<pod>[a-z][a-z0-9-]*)")
"""Regex for the name of a TF_CONFIG file that names a pod, as `tf_config-train-2-x7k2p.json` does."""
_OF_CLUSTER = ("cluster_spec", "connected")

_LISTED = re.compile(r"pid=(?P<pid>\d+)\) world_rank=(?P<rank>\d+)")
"""Regex for the value of a fact about a process that Ray Train started."""
_OF_RAY = re.compile(
    r"#pid=(\d+)$|(?:^|/)(?:python-core-)?worker-[0-9a-f]{56}[-_](?:[0-9a-f]{8}-)?(\d+)\.\w+$"
)
"""Regex for the name of what a process of Ray printed: on the driver's console, or in its session's logs."""


class Claim(NamedTuple):
    """A task and the kind of evidence that it was inferred from."""

    worker: str
    basis: Basis


def stated_clusters(stated: Statements) -> list[Cluster]:
    """Return the distinct cluster specifications that the files state.

    If they state none, but a leader tells of a chief, there is one without addresses: it has that role.
    """
    said = {(fact.key, fact.value) for facts in stated.values() for fact in facts if fact.key in _OF_CLUSTER}
    specs = sorted(value for key, value in said if key == "cluster_spec")
    chief: list[Cluster] = [{"chief": ()}] if ("connected", "chief:0") in said else []
    return [json.loads(spec) for spec in specs] or chief


def stated_by(group: Iterable[str], stated: Statements) -> list[Statement]:
    """Return what the sources of one worker state, in the order of the sources."""
    return [each for name in group for each in stated.get(name, ())]


def claim_of(group: Iterable[str], stated: Statements, clusters: Sequence[Cluster]) -> Claim | None:
    """Return the task that a worker's logs state most often, else that of its server's address, else None.

    A global rank counts as the index of a worker only if all tasks of the clusters are workers (ranks count
    every role), and if the logs state just one rank (the log of several processes states several).
    """
    facts = stated_by(group, stated)
    if not facts:
        return None
    only_workers = all(cluster.keys() <= {"worker"} for cluster in clusters)
    for key, spelled in _TASK_OF.items():
        named = (spelled.format(fact.value) for fact in facts if fact.key == key)
        claimed = Counter(task for task in named if is_task(task))
        if claimed and (key != "global_rank" or (only_workers and len(claimed) == 1)):
            return Claim(claimed.most_common(1)[0][0], Basis.SAID)
    return next((Claim(task, Basis.ADDRESS) for task in _serving(facts, clusters)), None)


def _serving(facts: Sequence[Statement], clusters: Sequence[Cluster]) -> list[str]:
    """Return the tasks whose addresses a log's servers have, in the clusters that the log itself states.

    Old TensorFlow calls its own address `localhost` there, so that another log's cluster has it elsewhere.
    Those count only if none is found in the log's own.
    """
    specs = dict.fromkeys(fact.value for fact in facts if fact.key == "cluster_spec")
    own = [json.loads(spec) for spec in specs] if len(clusters) > 1 else []
    servers = [fact.value for fact in facts if fact.key == "server_address"]
    for known in (own, clusters):
        if tasks := [task for server in servers for task in listening(server, known)]:
            return tasks
    return []


def without_process_ids(sources: Sequence[NamedSource]) -> list[NamedSource]:
    """Return the sources, without a worker for files of Ray's processes: the number is that of a process."""
    named = {each.name for each in sources if (found := _OF_RAY.search(each.name)) and found[2]}
    return [each._replace(worker=None) if each.name in named else each for each in sources]


def of_listed_processes(logs: Iterable[str], stated: Statements) -> dict[str, Claim]:
    """Return log → the task of its process, for the processes of Ray Train's workers; empty without a list.

    What the driver's console shows of a process is left out if its own logs are there: it may be shortened.
    """
    facts = (fact for facts in stated.values() for fact in facts if fact.key == "listed_process")
    listed = (found for fact in facts if (found := _LISTED.match(fact.value)))
    ranks = only_values((found["pid"], found["rank"]) for found in listed)
    named = ((log, found) for log in logs if ranks and (found := _OF_RAY.search(log)))
    processes = {log: found[1] or found[2] for log, found in named}
    files = {process for log, process in processes.items() if "#" not in log}
    return {
        log: Claim(f"worker:{int(ranks[process])}", Basis.SAID)
        for log, process in processes.items()
        if process in ranks and ("#" not in log or process not in files)
    }


def stated_in_tf_configs(
    sources: Iterable[NamedSource], stated: Statements, listed: AbstractSet[str]
) -> dict[str, Claim]:
    """Return TF_CONFIG file with a number but no role in its name → the other task that it states as its own.

    Empty if two files state one task: the numbers in the names are kept, and show this fault. A task that is
    not `listed` in a cluster does not count, unless it is the evaluator.
    """
    kind = Kind.TF_CONFIG.value
    named = {each.name: each.worker for each in sources if each.kind == kind and is_numbered(each.name)}
    claims = {name: claim for name in named if (claim := claim_of([name], stated, ()))}
    if len({claim.worker for claim in claims.values()}) < len(claims):
        return {}
    known = {*listed, "evaluator:0"}
    return {name: each for name, each in claims.items() if each.worker in known - {named[name]}}


def by_own_number(
    claims: Mapping[str, Claim | None],
    numbered: Mapping[str, Sequence[str]],
    sources: Iterable[NamedSource],
    stated: Statements,
) -> dict[str, Claim]:
    """Return worker in file names → its logs' claim if it confirms the number, else a claim by the number.

    `numbered` is worker → its logs. The number of a log without a claim is no guess if a file about the pod
    that the log is named after states it.
    """
    tasks = _tasks_of_pods(sources, stated)
    found = {}
    for worker, claim in claims.items():
        logs = numbered[worker] if tasks and claim is None else ()
        confirmed = any(tasks.get(_stem(log)) == worker for log in logs)
        by_number = Claim(worker, Basis.POD if confirmed else Basis.NUMBER)
        found[worker] = claim if claim and claim.worker == worker else by_number
    return found


def _tasks_of_pods(sources: Iterable[NamedSource], stated: Statements) -> dict[str, str]:
    """Return name of a pod → the task that its TF_CONFIG states, or else the labels of its controller."""
    facts = (fact for facts in stated.values() for fact in facts if fact.key == "labelled_pod")
    labelled = {fact.value: fact.worker for fact in facts if fact.worker}
    files = (each.name for each in sources if each.kind == Kind.TF_CONFIG.value)
    named = ((_CONFIG_OF.fullmatch(_stem(name)), claim_of([name], stated, ())) for name in files)
    return labelled | {found["pod"]: claim.worker for found, claim in named if found and claim}


def _stem(name: str) -> str:
    """Return the name of a file in lower case, without folder, suffix and attempt."""
    return PurePosixPath(without_attempt(log_of(name)).lower()).stem


def of_lone_recording(sources: Sequence[NamedSource], stated: Statements) -> dict[str, Claim]:
    """Return recording's file → its task if the run is a recording of one process that printed nothing."""
    files = [each.name for each in sources if each.kind == Kind.RECORDING.value]
    alone = len({name.rpartition("/")[0] for name in files}) == 1
    if not alone or any(each.is_log or each.worker for each in sources):
        return {}
    return dict.fromkeys(files, claim_of(files, stated, ()) or Claim("worker:0", Basis.ORDER))


def listening(address: str, clusters: Iterable[Cluster]) -> list[str]:
    """Return the tasks that have this address in one of the clusters."""
    return [task for cluster in clusters for task, each in task_addresses(cluster).items() if each == address]


def task_addresses(cluster: Cluster) -> Mapping[str, str]:
    """Return task → address of a cluster."""
    return {
        f"{role}:{index}": address
        for role, addresses in cluster.items()
        for index, address in enumerate(addresses)
    }


def is_mixed(group: Iterable[str], stated: Statements, clusters: Sequence[Cluster]) -> bool:
    """Return True if several workers wrote to one log without labels: it has servers of several tasks.

    Without a known cluster, several addresses count only if two processes started before the first server, or
    say that they are different tasks: a restarted worker may change its address. Or it is that of Spark's
    driver, which tells how several tasks of a stage failed.
    """
    facts = stated_by(group, stated)
    if len({fact.value for fact in facts if fact.key == "lost_task"}) > 1:
        return True
    servers = {fact.value for fact in facts if fact.key == "server_address"}
    tasks = {*_serving(facts, clusters)}
    together = len(servers) > 1 and _start_together(facts)
    return len(tasks) > 1 or (not tasks and (together or _state_different_tasks(facts)))


def _state_different_tasks(facts: Sequence[Statement]) -> bool:
    """Return True if a log states a task, repeats what is said at a start, and states another one."""
    tasks = sorted((fact.line, fact.value) for fact in facts if fact.key == "task")
    said = grouped((fact.key, fact.line) for fact in facts if fact.key in _SAID_ONCE)
    for lines in (lines for lines in said.values() if len(lines) > 1):
        started = ((bisect_right(sorted(lines), line), task) for line, task in tasks)
        if any(before < after and one != other for (before, one), (after, other) in pairwise(started)):
            return True
    return False


def _start_together(facts: Sequence[Statement]) -> bool:
    """Return True if a log shows a second process that started before the first one's server.

    A process may print several banners before its server; after a restart it prints as many again.
    """
    servers = sorted(fact.line for fact in facts if fact.key == "server_address")
    banners = [bisect_right(servers, fact.line) for fact in facts if fact.key == "process_banner"]
    first, *later = (banners.count(nth) for nth in range(len(servers)))
    return first > 1 and not all(count and count % first == 0 for count in later)
