"""Identifies the worker of a log whose name does not state it, or has a number but no role.

The log's content decides: its stated task, device strings in its errors, its server's address. A worker's log
without any of these gets the next free index of a task that it does not call, await or report as lost. A log
that several workers wrote without labels gets no worker, but a fact `several_workers`. These get no worker
either: a kernel log beside other logs; a log without signs of training (as notes) beside logs with such signs
or with a worker in their names; a log for which the cluster has no task left.
Numbers from 1, as docker compose uses, are shifted to start at 0; beside a role (`worker-1`, `node01`) only
if the logs contradict the names. A fact `attributed` records how a worker was identified that no name states.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from analyzer.identify.claims import (
    Claim,
    Cluster,
    by_own_number,
    claim_of,
    is_mixed,
    of_listed_processes,
    of_lone_recording,
    stated_by,
    stated_clusters,
    stated_in_tf_configs,
    task_addresses,
    without_process_ids,
)
from analyzer.identify.guesses import (
    by_peers,
    free_tasks,
    named_after_hosts,
    next_free,
    role_by_name,
    told_apart_by_connection,
)
from analyzer.identify.neighbours import (
    FAR,
    logs_of_stem,
    logs_on_host,
    on_hosts,
    parts_of_more_logs,
    without_idle_numbers,
)
from analyzer.identify.numbering import (
    LEADER,
    Numbering,
    claimed_by_series,
    clues_of,
    counted_from_zero,
    counted_in_names,
    from_one,
    is_contradicted,
    is_refuted,
    leads,
    listed_tasks,
    numbering,
)
from analyzer.identify.remote_tasks import RemoteTasks
from analyzer.identify.statements import (
    HOST,
    NamedSource,
    Statements,
    is_vague,
    training_logs,
    with_rows,
    without_job_ids,
)
from analyzer.model.log_layout import process_of
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.task_names import (
    Basis,
    host_in,
    in_order,
    is_kernel_log,
    is_numbered,
    split_task,
)
from analyzer.tables.grouping import grouped

_RECORDING = "recording.jsonl"
"""File that mwms-recorder writes beside the output of one process."""


class Owners(NamedTuple):
    """The workers of sources whose names do not state a worker."""

    claims: Mapping[str, Claim]
    """Source → its worker."""
    mixed: Sequence[str]
    """Logs to which several workers wrote lines without labels."""
    renumbered: Mapping[str, str]
    """Worker as numbered in the files → worker."""
    unnumbered: AbstractSet[str]
    """Logs whose names have a number that is no index of a task."""


def owners(sources: Sequence[NamedSource], stated: Statements, tables: Tables, messages: Messages) -> Owners:
    """Return log → worker for the logs whose names do not state it: they have a number alone, or none."""
    clusters, beside = stated_clusters(stated), logs_on_host(sources, stated)
    sources = [source for source in sources if source.name not in beside]
    numbered = {source.name for source in sources if source.worker}
    sources = _without_common_numbers(without_process_ids(sources), stated, clusters)
    remote = RemoteTasks(tables["records"], stated, messages)
    sources = _without_host_numbers(sources, stated, clusters, remote)
    listed = {task for cluster in clusters for task in task_addresses(cluster)}
    spoken = _spoken_in([source.name for source in sources], stated, remote)
    training = training_logs(tables, numbered, messages)
    sources = without_job_ids(sources, tables["facts"], training, listed | spoken)
    sources = without_idle_numbers(sources, training, listed, spoken)
    unnumbered = {source.name for source in sources if source.name in numbered and not source.worker}
    claims, renumbered = _numbered(sources, stated, clusters, remote)
    if not claims:
        claims, renumbered = _numbered_roles(sources, stated, clusters, remote)
    logs = [source for source in sources if source.is_log]
    known = {log.name: log.worker for log in logs if log.worker}
    known |= {name: claim.worker for name, claim in claims.items()}
    unnamed = [log.name for log in logs if not log.worker]
    of_processes = [name for name in unnamed if not is_kernel_log(name)]
    nameless = with_rows(tables, of_processes)
    others = any(log.name in known for log in logs)
    working = training_logs(tables, nameless, messages) or (set() if others else {*nameless})
    groups = _groups(log.name for log in logs if log.name in nameless)
    tasks = _least_tasks(stated, listed | spoken)
    parts = parts_of_more_logs(
        [group[0] for group in groups], len({*known.values()}), tasks, tables["records"]
    )
    mixed = [group[0] for group in groups if group[0] in parts or is_mixed(group, stated, clusters)]
    by_ray = of_listed_processes(nameless, stated)
    own = [group for group in groups if group[0] not in mixed and working & {*group} and not by_ray]
    claims |= by_ray | _claimed(own, {*known.values()}, stated, clusters)
    unsaid = [group for group in own if group[0] not in claims]
    taken = {*known.values(), *(claim.worker for claim in claims.values())}
    leading = [group for group in unsaid if leads(group, stated)]
    free = free_tasks(taken, len(unsaid), clusters, _connected(stated))
    claims |= by_peers(unsaid, leading, free, taken, remote)
    unsaid = [group for group in unsaid if group[0] not in claims]
    unsaid = [group for group in unsaid if free or not listed or role_by_name(group, listed) != "worker"]
    taken |= {claim.worker for claim in claims.values()}
    left = [task for task in free if task not in taken]
    joined = {log for log, facts in stated.items() if any(fact.key == "agent_connected" for fact in facts)}
    for alike, excluded in told_apart_by_connection(unsaid, left, _connected(stated), joined):
        claims |= next_free(alike, taken | excluded, remote, listed)
    claims |= _recorded(sources, claims)
    claims |= stated_in_tf_configs(sources, stated, listed)
    by_log = {name: Claim(worker, Basis.ADDRESS) for name, worker in known.items()} | claims
    beside |= logs_of_stem(sources, by_log)
    claims |= {file: by_log[log] for file, log in beside.items() if log in by_log}
    claims |= on_hosts(sources, claims)
    return Owners(claims or of_lone_recording(sources, stated), mixed, renumbered, unnumbered)


def _recorded(sources: Sequence[NamedSource], claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """Return recording's file → the worker of the output in its directory, which the same process wrote."""
    folder = {each.name: each.name.rpartition("/")[0] for each in sources}
    recordings = {folder[name] for name in folder if name.rpartition("/")[2] == _RECORDING}
    output = {folder[log]: claim for log, claim in claims.items() if folder[log] in recordings}
    unnamed = [each.name for each in sources if not each.is_log and not each.worker]
    return {name: output[folder[name]] for name in unnamed if folder[name] in output}


def _least_tasks(stated: Statements, tasks: AbstractSet[str]) -> int:
    """Return the least number of tasks of the job, by those that are named and by what logs state."""
    facts = (fact for facts in stated.values() for fact in facts if fact.key == "num_workers")
    return max([len(tasks), *(int(fact.value) for fact in facts if fact.value.isdecimal())])


def _without_common_numbers(
    sources: Sequence[NamedSource], stated: Statements, clusters: Sequence[Cluster]
) -> list[NamedSource]:
    """Return the sources, without a worker for logs with a number that logs of other tasks have, too.

    `ip-10-0-3-11.log` and `ip-10-0-3-54.log` share the 10, which is a part of a host's name. In one joined
    log, `dispatcher-1` is not the task of `worker-1`.
    """
    named = [each for each in sources if each.is_log and each.worker]
    logs = [each for each in named if is_vague(each.name)]
    numbered = grouped((log.worker, log.name) for log in logs)
    common = [names for names in numbered.values() if _are_several(names, stated, clusters)]
    tasks = {(_joined_log(each), each.worker) for each in named if not is_vague(each.name)}
    others = {each.name for each in logs if _joined_log(each) and (_joined_log(each), each.worker) in tasks}
    unknown = others.union(*common)
    return [each._replace(worker=None) if each.name in unknown else each for each in sources]


def _joined_log(source: NamedSource) -> str:
    """Return the file of which a source is a labelled part; empty if it is a file of its own."""
    return source.name.rpartition("#")[0]


def _without_host_numbers(
    sources: Sequence[NamedSource], stated: Statements, clusters: Sequence[Cluster], remote: RemoteTasks
) -> list[NamedSource]:
    """Return the sources without the numbers in logs' names if these are of hosts, as in `node21.log`.

    They are if the logs mention the tasks 0 to n - 1 for n numbers, and no task with such a number; or if n
    logs state that they are those tasks. If the numbers are far too high for indices, half of the tasks is
    enough, or none. Logs named after nothing but a host lose their numbers also if one of them rules out the
    task with its number.
    """
    logs = {
        each.name: each.worker
        for each in sources
        if each.is_log and (is_vague(each.name) or HOST.search(each.name.lower()))
    }
    numbers = {worker for worker in logs.values() if worker}
    spoken = _spoken_in([*logs], stated, remote)
    tasks = {task for cluster in clusters for task in task_addresses(cluster)} | spoken
    first = {f"worker:{index}" for index in range(len(numbers))}
    highest = max((split_task(worker)[1] for worker in numbers), default=0)
    half = tasks <= first and len(tasks) >= max(2, len(first) / 2) and highest >= 2 * len(tasks | numbers)
    said = {claim.worker for name in logs if (claim := claim_of([name], stated, clusters))}
    by_number = tasks.isdisjoint(numbers) and (tasks >= first or half)
    by_words = said == first != numbers and not from_one(numbers)
    is_far = not tasks and highest >= FAR * max(1, len(numbers))
    of_hosts = is_far or (len(numbers) > 1 and (by_number or by_words))
    named = {name: worker for name, worker in logs.items() if worker and host_in(name)}
    numbered = grouped((worker, name) for name, worker in named.items())
    clues = clues_of(numbered, stated, clusters, remote)
    refuted = is_refuted(clues, listed_tasks(numbered, stated, clusters), spoken)
    unnamed = logs if of_hosts else named if refuted else {}
    return [each._replace(worker=None) if each.name in unnamed else each for each in sources]


def _spoken_in(logs: Sequence[str], stated: Statements, remote: RemoteTasks) -> set[str]:
    """Return the tasks that logs report as connected, awaited, lost or called."""
    return {fact.value for fact in stated_by(logs, stated) if fact.key in {"connected", "awaits"}} | remote(
        logs
    )


def _are_several(names: Sequence[str], stated: Statements, clusters: Sequence[Cluster]) -> bool:
    """Return True if logs whose names have the same number are of several workers.

    They state different tasks or, where none states its task, different servers.
    """
    groups = _groups(names)
    tasks = {claim.worker for group in groups if (claim := claim_of(group, stated, clusters))}
    facts = ([fact for fact in stated_by(group, stated) if fact.key == "server_address"] for group in groups)
    servers = {tuple(fact.value for fact in own) for own in facts if own}
    return len(tasks) > 1 or (not tasks and len(servers) > 1)


def _claimed(
    groups: Sequence[Sequence[str]], taken: AbstractSet[str], stated: Statements, clusters: Sequence[Cluster]
) -> dict[str, Claim]:
    """Return log → worker for logs without a task in their names, by the task or the host that they state.

    If several logs state one task, the first of them gets it.
    """
    found: dict[str, Claim] = {}
    held = {*taken}
    for group in groups:
        claim = claim_of(group, stated, clusters)
        if claim and claim.worker not in held:
            held.add(claim.worker)
            found |= dict.fromkeys(group, claim)
    return found | named_after_hosts([each for each in groups if each[0] not in found], held, clusters)


def _numbered(
    sources: Sequence[NamedSource], stated: Statements, clusters: Sequence[Cluster], remote: RemoteTasks
) -> tuple[dict[str, Claim], Mapping[str, str]]:
    """Return (log → worker, old → new worker) for logs with only a number in their names."""
    logs = [(each.worker, each.name) for each in sources if each.is_log and each.worker]
    numbered = grouped((worker, name) for worker, name in logs if is_vague(name))
    named = {worker for worker, name in logs if not is_vague(name)}
    claims = {worker: claim_of(group, stated, clusters) for worker, group in numbered.items()}
    of_hosts = any(map(host_in, chain(*numbered.values())))
    found = {} if of_hosts else _by_claims(claims)
    if not found and from_one(numbered.keys()):
        clues = clues_of(numbered, stated, clusters, remote)
        kind = numbering(clues, listed_tasks(numbered, stated, clusters))
        is_shifted = kind is Numbering.FROM_ONE or (kind is Numbering.UNKNOWN and not of_hosts)
        found = counted_from_zero(clues) if is_shifted else {}
    if (named - numbered.keys()) & {claim.worker for claim in found.values()}:
        found = {}
    by_number = {**by_own_number(claims, numbered, sources, stated), **found}
    by_source = {name: by_number[worker] for worker, names in numbered.items() for name in names}
    if not found and not of_hosts:
        by_source |= claimed_by_series(by_source, stated, clusters)
    return by_source, {worker: claim.worker for worker, claim in found.items()}


def _numbered_roles(
    sources: Iterable[NamedSource], stated: Statements, clusters: Sequence[Cluster], remote: RemoteTasks
) -> tuple[dict[str, Claim], Mapping[str, str]]:
    """Renumber the files whose names count workers from 1, or by rank across roles.

    A launcher's ranks count from 0, unless a log before whose lines one stands cannot be of that task.

    Returns (source → worker, worker in file names → worker); both are empty if the names hold the task's
    index. If a file that is no log names worker 0, those files count from 0, and only logs are renumbered.
    """
    named = [each for each in sources if each.worker and not is_vague(each.name)]
    logs = grouped((each.worker, each.name) for each in named if each.is_log and each.worker)
    others = {source.worker for source in named if not source.is_log}
    listed = in_order(task for cluster in clusters for task in task_addresses(cluster))
    clues = clues_of(logs, stated, clusters, remote)
    ranked = counted_in_names(clues, listed)
    if ranked:
        moved = [each for each in named if each.is_log or "chief:0" not in others]
        return _renamed(moved, ranked)
    ranks = any(is_numbered(each.name.rpartition("#")[2]) for each in named)
    if not from_one(logs.keys()) or {LEADER, f"worker:{len(logs)}"} <= others:
        return {}, {}
    kind = numbering(clues, listed_tasks(logs, stated, clusters))
    if kind is Numbering.INDEX or (ranks and not is_contradicted(clues, {each: each for each in logs})):
        return {}, {}
    by_name = {each: Claim(each, Basis.NUMBER) for each in logs}
    found = counted_from_zero(clues) if kind is Numbering.FROM_ONE else by_name
    moved = [each for each in named if each.is_log or LEADER not in others]
    return _renamed(moved, found)


def _renamed(
    sources: Iterable[NamedSource], found: Mapping[str, Claim]
) -> tuple[dict[str, Claim], Mapping[str, str]]:
    claims = {each.name: found[each.worker] for each in sources if each.worker and each.worker in found}
    return claims, {worker: claim.worker for worker, claim in found.items()}


def _connected(stated: Statements) -> set[str]:
    """Return the tasks that the leader saw connecting."""
    return {fact.value for facts in stated.values() for fact in facts if fact.key == "connected"}


def _by_claims(claims: Mapping[str, Claim | None]) -> Mapping[str, Claim]:
    """Return worker → claim; empty if a worker has no claim or two claim the same task."""
    known = {worker: claim for worker, claim in claims.items() if claim}
    return known if len({claim.worker for claim in known.values()}) == len(claims) else {}


def _groups(logs: Iterable[str]) -> list[list[str]]:
    """Return the logs grouped by process: its stdout and stderr, files of one stem, and attempts."""
    return list(grouped((process_of(name), name) for name in logs).values())
