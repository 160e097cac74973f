"""Finds logs and recordings that may belong to another worker, or another job, than their names state."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice, pairwise
from math import inf
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from analyzer.derive.cluster.membership import FILES
from analyzer.derive.cluster.several_jobs import is_whole
from analyzer.model.task_names import Basis
from analyzer.tables.clock_alignment import in_other_zone
from analyzer.tables.grouping import grouped

COPY, NAME, JOB, SEVERAL = "copy", "name", "job", "several"
"""Kinds of doubt: two workers have the same file, the log names another task, the log is of another job, or
the worker has logs of several jobs."""
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
    met: AbstractSet[str],
    stepped: AbstractSet[str],
    sizes: Mapping[str, str],
    content: Callable[[str], Hashable],
) -> dict[str, dict[str, Any]]:
    """Return worker → the columns `doubted` (what is in doubt) and `doubt` (why), for doubtful logs.

    `devices` is worker → the task in the device that its log calls its own. `met` are the workers that a peer
    saw connect, `stepped` those that made training steps, or whose cluster had assembled. `sizes` is worker →
    the number of workers, or of replicas, that its log states; `content` returns what was read of a source.
    """
    logs = sources.filter(kind="log").select(_OF_LOGS).drop_nulls("worker").to_dicts()
    found = [
        *_of_other_times(logs, rows, met, stepped),
        *_of_other_jobs(logs, rows),
        *_one_too_many(rows, sizes),
        *_second_logs(logs),
        *_recordings_of_other_times(sources, logs),
        *_of_other_names(rows, devices),
        *_copies(logs, content),
    ]
    return {worker: {"doubted": kind, "doubt": why} for worker, kind, why in found}


def _copies(logs: Sequence[Row], content: Callable[[str], Hashable]) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, COPY, reason) for equal logs whose times agree to the fraction of a second.

    Healthy workers print the same losses, and may print them at the same times: logs are equal only if all
    that was read of them is, such as their task, their server and their host.
    """
    alike: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for log in logs:
        first, last = log["first_time"], log["last_time"]
        if first is not None and first % 1 and last % 1 and first != last:
            alike[log["bytes"], log["lines"], first, last].append(log)
    for same in (each for each in alike.values() if len(each) > 1):
        equal = grouped((content(log["source"]), log) for log in same)
        for files in ({log["worker"]: log["source"] for log in each} for each in equal.values()):
            for worker, file in files.items():
                if other := next((each for name, each in files.items() if name != worker), None):
                    yield worker, COPY, f"{file} and {other} hold the same lines"


def _of_other_names(rows: Sequence[Row], devices: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, NAME, reason) for logs that call the device of another worker with a log their own.

    Yields none with parameter servers, whose coordinator places operations on the devices of others.
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
    """Yield (worker, JOB, reason) for the only worker that no peer names, if it ran at another time."""
    ran = _times(logs)
    dated = [row["worker"] for row in rows if row["worker"] in ran and row["role"] != "evaluator"]
    unnamed = {row["worker"] for row in rows if row["known_by"] in {None, FILES}}.intersection(dated)
    if len(unnamed) == 1 and len(dated) > 2:
        (worker,) = unnamed
        first, last = _span([ran[peer] for peer in dated if peer != worker])
        if ran[worker][0] > last + _MIN_GAP_SECONDS or ran[worker][1] < first - _MIN_GAP_SECONDS:
            yield worker, JOB, f"no other log names {worker}, and its log is from another time"


def _one_too_many(rows: Sequence[Row], sizes: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, JOB, reason) for logs beyond the number of workers that the other logs state.

    Only workers that were assigned by the order of the files are doubted.
    """
    taking_part = [row for row in rows if row["role"] != "evaluator"]
    ordered = {
        row["worker"]
        for row in taking_part
        if row["guessed"] == Basis.ORDER and row["known_by"] in {None, FILES}
    }
    others = {row["worker"] for row in taking_part} - ordered
    if len(others) > 1 and {sizes[worker] for worker in others & sizes.keys()} == {str(len(others))}:
        for worker in sorted(ordered):
            yield worker, JOB, f"the other logs are of {len(others)} workers, as many as they state"


def _second_logs(logs: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, JOB, reason) for workers with logs in two directories, of which one is of another time.

    Earlier attempts and parts of rotated logs may be from any time, and are left out.
    """
    dated = [log for log in logs if log["first_time"] is not None]
    for worker, own in grouped((log["worker"], log) for log in dated if is_whole(log["source"])).items():
        if len({PurePosixPath(log["source"]).parent for log in own}) > 1:
            met = {log["source"]: _meets_another(log, dated) for log in own}
            far, near = ([name for name in met if met[name] is meets] for meets in (False, True))
            if far and near:
                yield worker, JOB, f"{far[0]} is from a different time than {near[0]} and all other logs"


def _recordings_of_other_times(sources: pl.DataFrame, logs: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, JOB, reason) for recordings more than a day before or after all logs."""
    dated = [(log["first_time"], log["last_time"]) for log in logs if log["first_time"] is not None]
    recorded = sources.filter(kind="recording").drop_nulls(["worker", "first_time", "last_time"])
    if dated:
        begin, end = _span(dated)
        for name, worker, first, last in recorded.select(*_OF_LOGS[:2], *_OF_LOGS[-2:]).iter_rows():
            if first > end + _DAY or last < begin - _DAY:
                yield worker, JOB, f"{name} was recorded more than a day {_side(first, end)} the logs"


def _side(first: float, end: float) -> str:
    return "after" if first > end else "before"


def _meets_another(log: Row, logs: Sequence[Row]) -> bool:
    return any(_may_meet(log, other) for other in logs if other["worker"] != log["worker"])


def _may_meet(one: Row, other: Row) -> bool:
    """Return True if two logs are of about one time, or began together by the clocks of two time zones."""
    gap = max(one["first_time"] - other["last_time"], other["first_time"] - one["last_time"])
    began_together = in_other_zone(one["first_time"], other["first_time"], _SAME_START_SECONDS)
    return gap <= _MIN_GAP_SECONDS or began_together


def _of_other_times(
    logs: Sequence[Row], rows: Sequence[Row], met: AbstractSet[str], stepped: AbstractSet[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (worker, JOB, reason) for logs of another time than most; for all if no time has the most logs.

    A worker may end before its peers begin, unless a day lies between, a peer saw it connect, or both made
    steps. Logs that began in the same minute by the clocks of two time zones are of one time.
    """
    ran = _times(logs)
    taking_part = {row["worker"] for row in rows if row["role"] != "evaluator"}
    groups = _apart_in_time({worker: time for worker, time in ran.items() if worker in taking_part})
    spans = [_span([ran[worker] for worker in group]) for group in groups]
    if len(groups) < 2 or _may_begin_together(spans):
        return
    sizes = Counter(map(len, groups))
    most = max(sizes)
    for number, group in enumerate(groups):
        if len(group) == most and sizes[most] == 1:
            continue
        gaps = [later[0] - earlier[1] for earlier, later in pairwise(spans[max(0, number - 1) : number + 2])]
        both_stepped = stepped if stepped - {*group} else frozenset[str]()
        other = groups[0 if number else 1][0]
        for worker in group:
            if min(gaps) > _DAY or worker in met or worker in both_stepped:
                yield worker, JOB, f"the logs of {worker} and {other} are of different times"


def _may_begin_together(spans: Sequence[tuple[float, float]]) -> bool:
    """Return True if two of the sorted spans may have begun in the same minute, in two time zones."""
    for number, (start, _) in enumerate(spans):
        for later, _ in islice(spans, number + 1, None):
            if later - start > _DAY:
                break
            if in_other_zone(start, later, _SAME_START_SECONDS):
                return True
    return False


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


def _span(times: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the first and the last of several pairs of a first and a last time."""
    return min(first for first, _ in times), max(last for _, last in times)
