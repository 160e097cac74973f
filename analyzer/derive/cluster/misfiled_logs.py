"""Finds logs that may belong to another worker, or another job, than their file names state."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from math import inf
from typing import Any

import polars as pl

from analyzer.derive.cluster.membership import FILES
from analyzer.tables.clock_alignment import in_other_zone
from analyzer.tables.grouping import grouped

COPY, NAME, JOB = "copy", "name", "job"
"""Kinds of doubt: two workers have the same file, the log names another task, the log is of another job."""
_MIN_GAP_SECONDS = 600.0
"""Minimum time between a log and all others for it to count as another run's."""
_SAME_START_SECONDS = 60.0
"""Maximum time between the starts of two workers of a job whose clocks show different time zones."""
_DAY = 86_400.0
"""Seconds between a log and all others for it to be of another run, whatever it says."""

_OF_LOGS = ("source", "worker", "bytes", "lines", "first_time", "last_time")

Row = Mapping[str, Any]


def misfiled(
    sources: pl.DataFrame,
    rows: Sequence[Row],
    devices: Mapping[str, str],
    met: AbstractSet[str] = frozenset(),
    stepped: AbstractSet[str] = frozenset(),
) -> dict[str, dict[str, Any]]:
    """Return worker → `doubted` and `doubt`.

    `devices` has the tasks whose devices logs name as their own, `met` the tasks that another
    one saw connect, and `stepped` those that made training steps.
    """
    logs = sources.filter(kind="log").select(_OF_LOGS).drop_nulls("worker").to_dicts()
    found = [
        *_of_other_times(logs, rows, met, stepped),
        *_of_other_jobs(logs, rows),
        *_of_other_names(rows, devices),
        *_copies(logs),
    ]
    return {worker: {"doubted": kind, "doubt": why} for worker, kind, why in found}


def _copies(logs: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield the workers of logs that agree in size and, to the fraction of a second, in their times."""
    alike: dict[tuple[object, ...], dict[str, str]] = defaultdict(dict)
    for log in logs:
        first, last = log["first_time"], log["last_time"]
        if first is not None and first % 1 and last % 1 and first != last:
            alike[log["bytes"], log["lines"], first, last][log["worker"]] = log["source"]
    for files in (same for same in alike.values() if len(same) > 1):
        for worker, file in files.items():
            other = next(each for name, each in files.items() if name != worker)
            yield worker, COPY, f"{file} and {other} are copies of one log"


def _of_other_names(rows: Sequence[Row], devices: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the workers whose errors name the device of another worker with a log as their own.

    The coordinator of parameter servers places operations on the devices of others.
    """
    logged = {row["worker"] for row in rows if row["logged"]}
    if any(row["role"] == "ps" for row in rows):
        return
    for row in rows:
        worker = row["worker"]
        own = devices.get(worker)
        if row["logged"] and not row["shares_claim"] and own != worker and own in logged:
            yield worker, NAME, f"the log of {worker} says that it is {own}"


def _of_other_jobs(logs: Sequence[Row], rows: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield the worker that no peer names, though peers name all others, if it ran at another time."""
    ran = _times(logs)
    dated = [row["worker"] for row in rows if row["worker"] in ran and row["role"] != "evaluator"]
    unnamed = {row["worker"] for row in rows if row["known_by"] in {None, FILES}}.intersection(dated)
    if len(unnamed) == 1 and len(dated) > 2:
        (worker,) = unnamed
        if _is_apart(ran[worker], [ran[peer] for peer in dated if peer != worker]):
            yield worker, JOB, f"no other log names {worker}, and its log is of another time"


def _of_other_times(
    logs: Sequence[Row], rows: Sequence[Row], met: AbstractSet[str], stepped: AbstractSet[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the workers whose logs are not of the time of most others; of two equal halves, those of both.

    A worker may end before its peers begin, but not a day before, nor if one of these saw it connect, or both
    made steps. Logs that began in the same minute by the clocks of two time zones are of one time.
    """
    ran = _times(logs)
    taking_part = {row["worker"] for row in rows if row["role"] != "evaluator"}
    groups = _apart_in_time({worker: time for worker, time in ran.items() if worker in taking_part})
    starts = [min(ran[worker][0] for worker in group) for group in groups]
    if any(in_other_zone(*pair, _SAME_START_SECONDS) for pair in combinations(starts, 2)):
        return
    most = max(map(len, groups), default=0)
    several = sum(len(group) == most for group in groups) > 1
    for group in groups if len(groups) > 1 else ():
        others = [worker for each in groups if each is not group for worker in each]
        both_stepped = stepped if stepped & {*others} else set[str]()
        for worker in group if len(group) < most or several else ():
            on_other_day = _is_apart(ran[worker], [ran[peer] for peer in others], _DAY)
            if on_other_day or worker in met or worker in both_stepped:
                yield worker, JOB, f"the logs of {worker} and {others[0]} are of different times"


def _apart_in_time(ran: Mapping[str, tuple[float, float]]) -> list[list[str]]:
    """Return the workers in groups by time, at least 10 minutes apart."""
    groups: list[list[str]] = []
    end = -inf
    for worker, (first, last) in sorted(ran.items(), key=lambda each: each[1]):
        if first > end + _MIN_GAP_SECONDS:
            groups.append([])
        groups[-1].append(worker)
        end = max(end, last)
    return groups


def _times(logs: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """Return worker → first and last time of its logs; without those that have none."""
    dated = grouped((log["worker"], log) for log in logs if log["first_time"] is not None)
    return {
        worker: (min(log["first_time"] for log in own), max(log["last_time"] for log in own))
        for worker, own in dated.items()
    }


def _is_apart(
    own: tuple[float, float], others: Sequence[tuple[float, float]], least: float = _MIN_GAP_SECONDS
) -> bool:
    """Return True if a worker ran before or after all others, with `least` seconds in between."""
    first, last = min(first for first, _ in others), max(last for _, last in others)
    return own[0] > last + least or own[1] < first - least
