"""Guesses the tasks of logs that state none: by the peers that they mention, else by their order."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import count, pairwise
from pathlib import PurePosixPath

from analyzer.identify.claims import Claim, Cluster, task_addresses
from analyzer.identify.remote_tasks import RemoteTasks
from analyzer.model.task_names import Basis, in_order

_RING = 3
"""Least number of tasks whose order in a ring is not the same both ways round."""
_ROLE_WORD = re.compile(
    r"^(?P<before>(?!.*train(?:ing)?(?![a-z])).*[^a-z])?(?P<role>ps|eval|evaluator)[^a-z]*$"
)
"""Regex for a name that ends with the word for a role; `train_eval` says what a script does, not its role."""


def free_tasks(
    taken: AbstractSet[str], logs: int, clusters: Sequence[Cluster], connected: AbstractSet[str]
) -> list[str]:
    """Return the tasks without a log, leader first; without a cluster, guessed from connections or logs."""
    listed = in_order(task for cluster in clusters for task in task_addresses(cluster))
    if not listed and len(connected) > len(taken) + logs:
        listed = in_order(connected)
    return [task for task in listed or map("worker:{}".format, range(len(taken) + logs)) if task not in taken]


def by_peers(
    groups: Sequence[Sequence[str]],
    leading: Sequence[Sequence[str]],
    free: Sequence[str],
    taken: AbstractSet[str],
    remote: RemoteTasks,
) -> dict[str, Claim]:
    """Return log → task by a ring of calls, by a leader's lines, or as the only log that does not call it.

    With fewer logs than `free` tasks, only the leader's is found: a task that all call may have left none.
    """
    if len(groups) > len(free) or len(groups) < 2:
        return {}
    peers = {group[0]: remote(group) for group in groups}
    found = _by_ring(groups, free, taken, remote)
    if len(leading) == 1 and free[0] not in {*peers[leading[0][0]], *found.values()}:
        found.setdefault(leading[0][0], free[0])
    while len(groups) == len(free) and (only := _only_log(free, peers, found)):
        found |= [only]
    named = ((name, found.get(group[0])) for group in groups for name in group)
    return {name: Claim(task, Basis.PEERS) for name, task in named if task}


def _by_ring(
    groups: Sequence[Sequence[str]], free: Sequence[str], taken: AbstractSet[str], remote: RemoteTasks
) -> dict[str, str]:
    """Return log → task for logs that received data in a ring: each receives from the task before its own.

    A status that several tasks passed on shows the ring, which must follow the order of the tasks; each must
    have a log. If one log and one task remain, they belong together.
    """
    tasks, chains = in_order({*free, *taken}), {group[0]: remote.chains(group) for group in groups}
    after = dict(zip(tasks, [*tasks[1:], *tasks[:1]], strict=True))
    links = {link for own in chains.values() for chain in own for link in pairwise(chain)}
    if len(groups) != len(free) or len(tasks) < _RING or not links or not links <= after.items():
        return {}
    called = {log: {chain[-1] for chain in own} for log, own in chains.items()}
    found = {log: after.get(min(own), "") for log, own in called.items() if len(own) == 1}
    left = {*free} - {*found.values()}
    if len(left) != len(free) - len(found):
        return {}
    rest = [log for log in chains if log not in found]
    return found | dict(zip(rest, left, strict=True)) if len(left) == 1 else found


def _only_log(
    free: Sequence[str], peers: Mapping[str, AbstractSet[str]], found: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return (log, task) for a task that all other logs without a task call a peer; None if there is none."""
    logs, taken = [log for log in peers if log not in found], {*found.values()}
    callers = Counter(task for log in logs for task in peers[log])
    only = (task for task in free if task not in taken and callers[task] == len(logs) - 1)
    pairs = ((log, task) for task in only for log in logs if task not in peers[log])
    return next(pairs, None) if len(logs) > 1 else None


def next_free(
    groups: Sequence[Sequence[str]], taken: AbstractSet[str], remote: RemoteTasks, listed: AbstractSet[str]
) -> dict[str, Claim]:
    """Return log → task: the next free index of its role, past those that the log mentions as its peers.

    Where that would leave a task out, as the last log mentions it, an earlier log takes it that does not, if
    the last one can take the task of that log: jobs rarely lack the log of a task in their middle. A log that
    mentions nobody goes first, for who was lost seldom complains of others.
    """
    found: dict[str, Claim] = {}
    held, first = {*taken}, dict[str, int]()
    for place, group in enumerate(groups):
        role = role_by_name(group, listed, chief="chief:0" in taken)
        first[role] = _free_index(role, first.get(role, 0), held)
        guess = f"{role}:{_free_index(role, first[role], held, remote(group))}"
        if listed and guess not in listed:
            guess = f"{role}:{first[role]}"
        is_next = guess == f"{role}:{first[role]}"
        free = f"{role}:{first[role]}"
        is_last = place + 1 == len(groups) >= _RING
        if not is_next and is_last and (other := _to_swap(groups[:place], group, free, found, remote)):
            guess = found[other[0]].worker
            found |= dict.fromkeys(other, Claim(free, Basis.PEERS))
        held.add(guess)
        found |= dict.fromkeys(group, Claim(guess, Basis.ORDER if is_next else Basis.PEERS))
    return found


def _to_swap(
    earlier: Sequence[Sequence[str]],
    last: Sequence[str],
    free: str,
    found: Mapping[str, Claim],
    remote: RemoteTasks,
) -> Sequence[str] | None:
    """Return the earlier log that can be the free task's, with the last one in its place, if there is one."""
    role = free.partition(":")[0]
    for group in sorted(earlier, key=lambda each: len(remote(each))):
        task = found[group[0]].worker
        if task.partition(":")[0] == role and free not in remote(group) and task not in remote(last):
            return group
    return None


def told_apart_by_connection(
    groups: Sequence[Sequence[str]],
    free: Sequence[str],
    connected: AbstractSet[str],
    joined: AbstractSet[str],
) -> list[tuple[list[Sequence[str]], set[str]]]:
    """Return (logs, tasks that they are not) for those that joined the coordination service and the others.

    It saw the `connected` tasks; the `joined` logs say that they reached it. All logs may be of any task if
    their numbers differ.
    """
    came = [group for group in groups if not joined.isdisjoint(group)]
    met = {*free} & connected
    if len(came) != len(met):
        return [([*groups], set())]
    return [(came, {*free} - met), ([group for group in groups if group not in came], met)]


def named_after_hosts(
    groups: Sequence[Sequence[str]], held: AbstractSet[str], clusters: Sequence[Cluster]
) -> dict[str, Claim]:
    """Return log → task for logs whose file, folder or stream has the name of the host of one task."""
    tasks: dict[str, set[str]] = {}
    for cluster in clusters:
        for task, address in task_addresses(cluster).items():
            tasks.setdefault(address.rpartition(":")[0].lower(), set()).add(task)
    found: dict[str, Claim] = {}
    for group in groups:
        paths = [PurePosixPath(part) for log in group for part in log.lower().split("#")]
        names = {name for path in paths for name in (*path.parts, path.stem)}
        named = {task for name in names for task in tasks.get(name, ())}
        if len(named) == 1 and named.isdisjoint({*held, *(claim.worker for claim in found.values())}):
            found |= dict.fromkeys(group, Claim(named.pop(), Basis.ADDRESS))
    return found


def role_by_name(logs: Sequence[str], listed: AbstractSet[str], *, chief: bool = False) -> str:
    """Return the role that a log is named after, as `ps.log` and `eval.log` are; else `worker`.

    The word may end a longer name, as in `job-eval.log`, only if the cluster is known. In a known cluster, a
    parameter server must be `listed`; an evaluator, which no cluster lists, needs a chief. In an unknown one,
    `chief` tells whether another log is that of a chief.
    """
    found = (_ROLE_WORD.search(PurePosixPath(log.rpartition("#")[2]).stem.lower()) for log in logs)
    words = [word for word in found if word]
    named = {word["role"] for word in words if listed or not word["before"]}
    if "ps" in named and (not listed or "ps:0" in listed):
        return "ps"
    named |= {word["role"] for word in words if chief}
    return "evaluator" if named - {"ps"} and (not listed or "chief:0" in listed) else "worker"


def _free_index(role: str, first: int, *taken: AbstractSet[str]) -> int:
    """Return the lowest index of a role, at least `first`, that is in none of the sets of tasks."""
    return next(index for index in count(first) if not any(f"{role}:{index}" in tasks for tasks in taken))
