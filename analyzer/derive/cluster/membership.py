"""Infers which tasks belong to the job, including peers that left no files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import polars as pl

from analyzer.model.task_names import GUESSES, is_task, listed_workers, split_task, tasks_in

CLUSTER, SERVICE, COUNTED, NAMED, GAP, FILES = (
    "the cluster lists it",
    "the coordination service names it",
    "the number of workers that the strategy states",
    "lines of its peers name it",
    "a gap between the indices of its peers",
    "it left files, as its peers did",
)
"""Reasons why a task counts as a member, the strongest first."""

_DEVICE = r"/job:[a-z_]+(?:/replica:\d+)?/task:\d{1,9}"
_NOT_THERE = r"assign a device|does not exist|not a valid device|unknown device|CreateSession\(\) for device"
"""Regex of errors that report a named device as missing."""
_COUNTS = ("num_workers", "group_size")
"""Keys of facts that state the number of workers; that of a collective's group, if each has one device."""
_LOST_BY_LAUNCHER = ("daemon_lost", "pod_deleted")
"""Keys of facts about a task that a launcher names as lost."""
_MAX_COUNTED = 4_096
"""Upper limit of inferred worker indices, in case a number was misread."""


def members(
    facts: pl.DataFrame, records: pl.DataFrame, seen: AbstractSet[str], listed: AbstractSet[str]
) -> Mapping[str, str]:
    """Return task → why it counts as a member; `listed` are the tasks in the stated clusters."""
    stated = facts.filter(pl.col("key").is_in(["connected", "awaits"]))["value"]
    named = {*stated.drop_nulls()}
    lost = {*facts.filter(pl.col("key").is_in(_LOST_BY_LAUNCHER))["worker"].drop_nulls()}
    found = dict.fromkeys(_named_by_peers(records) | _missing_ranks(facts) | lost, NAMED)
    if len(listed) > 1:
        roles = {split_task(task)[0] for task in listed}
        found = {task: why for task, why in found.items() if split_task(task)[0] not in roles}
    else:
        known = {*found, *named, *seen}
        counted = _tasks_by_count(facts, known)
        several = known | counted
        gaps = () if len(several) == 1 and several <= _guessed(facts) else _tasks_in_gaps(several)
        found = dict.fromkeys(gaps, GAP) | found | dict.fromkeys(counted, COUNTED)
        if found or named:
            found = dict.fromkeys(seen, FILES) | found
    return found | dict.fromkeys(named, SERVICE) | dict.fromkeys(listed, CLUSTER)


def _guessed(facts: pl.DataFrame) -> set[str]:
    """Return the tasks that only a number in a file's name states; a lone log may bear any number."""
    bases = facts.filter(key="attributed").select("worker", "value").drop_nulls("worker")
    return {*bases["worker"]} - {*bases.filter(~pl.col("value").is_in([*GUESSES]))["worker"]}


def _missing_ranks(facts: pl.DataFrame) -> set[str]:
    """Return the tasks that a log, by rank, reports missing from a collective."""
    ranks = facts.filter(pl.col("key") == "missing_ranks")["value"].to_list()
    return {task for each in ranks for task in listed_workers("tasks " + each.replace(" ", ""))}


def _named_by_peers(records: pl.DataFrame) -> set[str]:
    """Return the tasks in device strings of records, except those reported as missing devices."""
    texts = records["text"].filter(records["text"].str.contains("/task:", literal=True))
    if texts.is_empty():
        return set()
    devices = texts.filter(~texts.str.contains(_NOT_THERE)).str.extract_all(_DEVICE).explode()
    return {task for device in devices.drop_nulls().unique() for task in tasks_in(device) if is_task(task)}


def _tasks_by_count(facts: pl.DataFrame, known: Iterable[str]) -> set[str]:
    """Return the tasks implied by the largest number of workers that a strategy states."""
    stated = facts.filter(pl.col("key").is_in(_COUNTS) & pl.col("worker").is_not_null())["value"]
    count = max((int(value) for value in stated if re.fullmatch(r"\d{1,4}", value)), default=0)
    chiefs = sum(task.startswith("chief:") for task in known)
    return {f"worker:{index}" for index in range(min(count, _MAX_COUNTED) - chiefs)} if count > 1 else set()


def _tasks_in_gaps(known: Iterable[str]) -> Iterator[str]:
    """Yield the missing tasks below the highest index of each role; with a chief, workers start at 1."""
    held = {*known}
    indices: dict[str, set[int]] = {}
    for task in held:
        role, index = split_task(task)
        indices.setdefault(role, set()).add(index)
    for role, own in indices.items():
        first = 1 if role == "worker" and "chief" in indices else 0
        if max(own) < _MAX_COUNTED:
            yield from (f"{role}:{index}" for index in range(first, max(own)) if index not in own)
