"""Decides whether workers that file names number from 1 are tasks that TensorFlow numbers from 0."""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import NamedTuple

from analyzer.identify.claims import Claim, Cluster, claim_of, stated_by, task_addresses
from analyzer.identify.remote_tasks import OF_THE_LEADER, RemoteTasks
from analyzer.identify.statements import Statements
from analyzer.model.task_names import Basis, in_order, split_task
from analyzer.tables.grouping import grouped

_NUMBERS = re.compile(r"\d+")
LEADER = "worker:0"
"""The task that leads a cluster without a chief."""


class TaskClues(NamedTuple):
    """What the logs of one worker tell about its task."""

    claim: Claim | None
    """The task that they state as their own."""
    peers: AbstractSet[str]
    """The tasks that they mention as peers."""
    leads: bool
    """True if they contain lines that only the leader writes."""

    def rules_out(self, task: str) -> bool:
        """Return True if the logs cannot be this task's."""
        other = self.claim is not None and self.claim.worker != task
        return other or task in self.peers or (self.leads and task != LEADER)


def clues_of(
    logs: Mapping[str, Sequence[str]], stated: Statements, clusters: Sequence[Cluster], remote: RemoteTasks
) -> dict[str, TaskClues]:
    """Return worker in file names → what its logs tell about its task."""
    return {
        worker: TaskClues(claim_of(names, stated, clusters), remote(names), leads(names, stated))
        for worker, names in logs.items()
    }


def leads(group: Iterable[str], stated: Statements) -> bool:
    """Return True if the logs contain lines that only the leader writes."""
    return any(fact.key in OF_THE_LEADER for fact in stated_by(group, stated))


def listed_tasks(
    logs: Mapping[str, Sequence[str]], stated: Statements, clusters: Sequence[Cluster]
) -> set[str]:
    """Return the tasks of the clusters; if no file states a cluster, `worker:0` and up, one per log.

    Without a cluster, it is empty unless every stated number of workers or replicas is that of the logs.
    """
    listed = {task for cluster in clusters for task in task_addresses(cluster)}
    facts = (fact for names in logs.values() for fact in stated_by(names, stated))
    counted = {fact.value for fact in facts if fact.key in {"num_workers", "replicas"}}
    all_counted = counted == {str(len(logs))}
    return listed or ({f"worker:{index}" for index in range(len(logs))} if all_counted else set())


class Numbering(Enum):
    """How the numbers in file names relate to the indices of tasks."""

    INDEX = "the indices of tasks"
    FROM_ONE = "the indices of tasks plus 1"
    UNKNOWN = "either: nothing shows which"


def from_one(workers: AbstractSet[str]) -> bool:
    """Return True if the workers are numbered from 1 without a gap, and at least two."""
    return len(workers) > 1 and workers == {*_numbered(1, len(workers))}


def numbering(clues: Mapping[str, TaskClues], listed: AbstractSet[str]) -> Numbering:
    """Return how the numbers in names relate to indices: FROM_ONE only if the logs contradict INDEX.

    `clues` maps workers, as numbered from 1, to what their logs show; `listed` has the tasks of the
    cluster, and is empty if no file states them.
    """
    named, tasks = _numbered(1, len(clues)), _numbered(0, len(clues))
    spoken = {task for each in clues.values() for task in each.peers}
    if _ruled_out(clues, named, tasks) or named[-1] in spoken or (listed and {*tasks} != listed):
        return Numbering.INDEX
    contradicted = _ruled_out(clues, named, named) or LEADER in spoken or (listed and not {*named} <= listed)
    return Numbering.FROM_ONE if contradicted else Numbering.UNKNOWN


def counted_in_names(clues: Mapping[str, TaskClues], listed: Sequence[str]) -> dict[str, Claim]:
    """Return worker in file names → its task if names count by rank, or each role from 1; else empty.

    Or if they call the first worker of a cluster without a chief the chief, or the master.
    """
    claims = {worker: each.claim for worker, each in clues.items()}
    ranked = counted_by_rank(claims, listed) or _led_by_the_first(claims, listed)
    ranked = ranked or _each_role_from_one(clues) or _beside_a_chief(claims, listed)
    return ranked or (_first_as_chief(clues, listed) if "chief:0" in clues else {})


def _first_as_chief(clues: Mapping[str, TaskClues], listed: Sequence[str]) -> dict[str, Claim]:
    """Return worker in file names → its task if the logs know workers alone, one more than names count.

    Platforms name replicas so, whatever a script puts into TF_CONFIG: PyTorch's operator has a `master-0`,
    Vertex AI a `workerpool0-0`. A log must contradict its name, as one does that has its own as a peer's.
    """
    claims = {each.claim.worker for each in clues.values() if each.claim}
    known = {*listed, *claims, *(task for each in clues.values() for task in each.peers)}
    tasks = _numbered(0, len(clues))
    names = ["chief:0", *tasks[:-1]]
    if {*names} != {*clues} or tasks[-1] not in known or not known <= {*tasks} or len(names) < 2:
        return {}
    found = dict(zip(names, tasks, strict=True))
    if any(clues[name].rules_out(task) for name, task in found.items()):
        return {}
    first, *others = names
    contradicted = clues[first].claim is not None or any(clues[name].rules_out(name) for name in others)
    return (
        {name: clues[name].claim or Claim(task, Basis.PEERS) for name, task in found.items()}
        if contradicted
        else {}
    )


def _each_role_from_one(clues: Mapping[str, TaskClues]) -> dict[str, Claim]:
    """Return worker in file names → its task if names count the tasks of every role from 1.

    Docker Compose numbers the containers of a service so. A cluster has one chief and one evaluator at most:
    one with the number 1 shows it, where no number is missing and no log rules out its task.
    """
    numbers = grouped(map(split_task, clues))
    alone = any(numbers.get(role) == [1] for role in ("chief", "evaluator"))
    gapless = all(sorted(counted) == [*range(1, len(counted) + 1)] for counted in numbers.values())
    tasks = {worker: f"{role}:{index - 1}" for worker in clues for role, index in [split_task(worker)]}
    ranks = {task: f"worker:{rank}" for rank, task in enumerate(in_order(tasks.values()))}
    leader = "chief:0" if "chief" in numbers else LEADER
    fitting = (_may_be(clues[worker], task, ranks[task], leader) for worker, task in tasks.items())
    if not (alone and gapless and all(fitting)):
        return {}
    return {
        worker: claim if (claim := clues[worker].claim) and claim.worker == task else counted
        for worker, task in tasks.items()
        for counted in [Claim(task, Basis.COUNTED_FROM_ZERO)]
    }


def _beside_a_chief(claims: Mapping[str, Claim | None], listed: Sequence[str]) -> dict[str, Claim]:
    """Return worker in file names → its task if names count the workers of a cluster with a chief from 1.

    The cluster must be `listed`, and each worker must claim the task one below the number in its name.
    """
    workers = {name: claim for name, claim in claims.items() if name != "chief:0"}
    named, tasks = _numbered(1, len(workers)), _numbered(0, len(workers))
    stated = [claim.worker for name in named if (claim := workers.get(name))]
    chief = claims.get("chief:0")
    if "chief:0" not in claims or (chief and chief.worker != "chief:0") or {*listed} != {"chief:0", *tasks}:
        return {}
    return {name: claim for name, claim in workers.items() if claim} if stated == tasks else {}


def _may_be(clues: TaskClues, task: str, rank: str, leader: str) -> bool:
    """Return True if no log rules out the task; one may state its rank among all roles for its index."""
    says_so = clues.claim is None or clues.claim.worker in {task, rank}
    return says_so and task not in clues.peers and (task == leader or not clues.leads)


def counted_by_rank(claims: Mapping[str, Claim | None], listed: Sequence[str]) -> dict[str, Claim]:
    """Return worker in file names → its task if names number all tasks from 0, chief first, as ranks do.

    `claims` is worker in file names → what its logs claim; `listed` has the cluster's tasks in order. Empty
    unless there is a chief and every log claims the task of its rank.
    """
    ranks = {f"worker:{rank}": task for rank, task in enumerate(listed)}
    claimed = {worker: claim for worker, claim in claims.items() if claim}
    fits = {worker: claim.worker for worker, claim in claimed.items()} == ranks
    return claimed if fits and "chief:0" in listed else {}


def _led_by_the_first(claims: Mapping[str, Claim | None], listed: Sequence[str]) -> dict[str, Claim]:
    """Return worker in file names → its task if ranks number the tasks of a parameter server job; else empty.

    Without a cluster in the logs, the first is the coordinator if it alone claims no task: TensorFlow lets
    every other task log its own device.
    """
    claimed = {worker: claim for worker, claim in claims.items() if claim}
    tasks = {claim.worker for claim in claimed.values()}
    roles = {split_task(task)[0] for task in tasks}
    if (
        listed
        or claims.keys() - claimed.keys() != {LEADER}
        or not {"ps", "worker"} <= roles <= {"ps", "worker", "evaluator"}
    ):
        return {}
    ranks = {f"worker:{rank}" for rank in range(len(claims))}
    distinct = len(tasks) == len(claimed) and claims.keys() == ranks
    return {LEADER: Claim("chief:0", Basis.NUMBER), **claimed} if distinct else {}


def counted_from_zero(clues: Mapping[str, TaskClues]) -> dict[str, Claim]:
    """Return worker numbered from 1 → its task: the claim of its logs, else a guess."""
    tasks = zip(_numbered(1, len(clues)), _numbered(0, len(clues)), strict=True)
    return {named: clues[named].claim or Claim(task, Basis.COUNTED_FROM_ZERO) for named, task in tasks}


def claimed_by_series(
    logs: Iterable[str], stated: Statements, clusters: Sequence[Cluster]
) -> dict[str, Claim]:
    """Return log → task for the logs of a series that each state a task of their own, beside another series.

    `server-1.log` and up may be of the tasks of `train-0.log` and up: each series counts as it likes.
    """
    series = grouped((_NUMBERS.sub("#", log), log) for log in logs)
    found: dict[str, Claim] = {}
    for names in series.values() if len(series) > 1 else ():
        claims = {log: claim for log in names if (claim := claim_of([log], stated, clusters))}
        if len(names) > 1 and len({claim.worker for claim in claims.values()}) == len(names):
            found |= claims
    return found


def _numbered(first: int, count: int) -> list[str]:
    return [f"worker:{first + index}" for index in range(count)]


def is_refuted(clues: Mapping[str, TaskClues], listed: Iterable[str], spoken: AbstractSet[str]) -> bool:
    """Return True if the logs show that the numbers of their hosts are not task indices.

    `clues` maps workers, as the hosts number them, to what their logs show; `spoken` has the tasks that any
    log names. Return False if the logs' own claims may be wrong (two claim one task, or one an index too
    high), or if a log names a task with a host's high number, so that tasks are numbered like hosts.
    """
    first = {f"worker:{index}" for index in range(len(clues))}
    claimed = [each.claim.worker for each in clues.values() if each.claim]
    doubtful = len({*claimed}) < len(claimed) or not first.issuperset(claimed)
    if len(clues) < 2 or doubtful or not spoken.isdisjoint(clues.keys() - first):
        return False
    named = [*clues]
    if from_one(clues.keys()) and numbering(clues, {*listed}) is not Numbering.INDEX:
        return False
    return is_contradicted(clues, dict(zip(named, named, strict=True)))


def is_contradicted(clues: Mapping[str, TaskClues], tasks: Mapping[str, str]) -> bool:
    """Return True if logs rule out their task in `tasks`, which is worker in file names → task."""
    return any(clues[name].rules_out(task) for name, task in tasks.items())


def _ruled_out(clues: Mapping[str, TaskClues], named: Sequence[str], tasks: Sequence[str]) -> bool:
    return is_contradicted(clues, dict(zip(named, tasks, strict=True)))
