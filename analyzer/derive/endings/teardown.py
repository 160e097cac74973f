"""Distinguishes workers ended from outside from those that a launcher ended because another had ended."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from analyzer.derive.training.resources import duration
from analyzer.tables.clock_alignment import ZONE_STEP_SECONDS

_ENDED_BY_SCHEDULER = ["DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"]
"""States of Slurm's accounting in which something other than the program ended the job."""
LOSSES = ("transport", "heartbeat", "down", "leader")
"""Kinds of complaint that end a job."""
_CANCEL_SECONDS, _AFTER_SECONDS = 15.0, 60.0
"""Slurm gives its nodes 10 s to answer (MessageTimeout), so that a task may end this long before the log of
another node says that the job was cancelled; and peers may report its loss this long after it.
"""
_SIGTERM, _SIGKILL = "-15", "-9"
NOT_SENT_BY_LAUNCHERS = ["-4", "-7", "-9", "-11"]
"""Exit codes of signals that do not ask a process to leave: SIGILL, SIGBUS, SIGKILL, SIGSEGV."""


def reported_later(facts: pl.DataFrame, sources: pl.DataFrame) -> set[str]:
    """Return the tasks whose failure a launcher's log reports after the failure of another task."""
    bad = facts.filter(~pl.col("value").is_in(["0", "running"]), key="exit_code")
    if bad.is_empty():
        return set()
    logs = sources.filter(pl.col("kind") == "log")["source"]
    first = pl.col("line").min().over(pl.col("source").str.split("#").list.first())
    logged = bad.filter(pl.col("source").is_in(logs.implode()))
    return set(logged.filter(pl.col("line") > first)["worker"].drop_nulls())


def ended_from_outside(facts: pl.DataFrame, sources: pl.DataFrame) -> set[str]:
    """Return the tasks killed by a signal that no launcher sent, or for lack of memory."""
    signalled = facts.filter(pl.col("value").is_in(NOT_SENT_BY_LAUNCHERS), key="exit_code")["worker"]
    out_of_memory = facts.filter(key="out_of_memory")["worker"]
    return set(signalled.drop_nulls()) - reported_later(facts, sources) | set(out_of_memory.drop_nulls())


def ended_by_scheduler(facts: pl.DataFrame) -> bool:
    """Return True if a scheduler ended the job: for time, memory, node or priority, or on request."""
    stated = pl.col("key").is_in(["job_state", "step_state"]) & pl.col("value").is_in(_ENDED_BY_SCHEDULER)
    cancelled = (pl.col("key") == "job_state") & (pl.col("value") == "CANCELLED")
    return not facts.filter(stated | cancelled | (pl.col("key") == "ended_by_scheduler")).is_empty()


def scheduler_stop(facts: pl.DataFrame) -> float | None:
    """Return when the scheduler, a CI server or a process manager says that it ended the job; else None.

    It ended the job for time or on request. The time is that of its own host.
    """
    if (ended := _first_time(facts, "ended_at")) is not None:
        return ended
    passed = facts.filter(key="time_limit_passed").drop_nulls("time")
    if passed.height:
        return float(passed["time"][0])
    cancelled = None if _failed_before_cancel(facts) else _first_time(facts, "cancelled_at")
    return _manager_stop(facts) if cancelled is None else cancelled


def _manager_stop(facts: pl.DataFrame) -> float | None:
    """Return when a process manager was asked to end; None if it was not, or a task had failed before."""
    asked = facts.filter(pl.col("worker").is_null(), key="stop_requested").drop_nulls("time")
    if asked.is_empty():
        return None
    codes = facts.filter(~pl.col("value").is_in(["0", "running"]), key="exit_code", source=asked["source"][0])
    is_first = codes.filter(pl.col("line") < asked["line"][0]).is_empty()
    return float(asked["time"][0]) if is_first else None


def terminated_by_stop(code: Mapping[str, Any], facts: pl.DataFrame) -> bool:
    """Return True if SIGTERM ended a task at or after the time at which a scheduler ended the job.

    `code` is the fact of its exit code; in the log that states the stop, its place tells the order.
    """
    stops = facts.filter(pl.col("key").is_in(["ended_at", "cancelled_at"]), source=code["source"])
    before = stops.filter(pl.col("line") > (code["line"] or 0)).height == stops.height > 0
    return code["value"] == _SIGTERM and scheduler_stop(facts) is not None and not before


def lost_before_stop(accusations: pl.DataFrame, stop: float | None) -> str | None:
    """Return in words that a worker was lost well before a scheduler ended the job; None if nothing shows it.

    A difference that time zones and the end itself explain does not.
    """
    dated = accusations.filter(pl.col("counts") & pl.col("kind").is_in(LOSSES)).drop_nulls("time")
    if stop is None or dated.is_empty():
        return None
    first = dated.sort("time").row(0, named=True)
    seconds = stop - first["time"]
    beyond_zones = seconds % ZONE_STEP_SECONDS if seconds >= ZONE_STEP_SECONDS - _AFTER_SECONDS else seconds
    if not _CANCEL_SECONDS <= beyond_zones <= ZONE_STEP_SECONDS - _AFTER_SECONDS:
        return None
    return f"{first['accuser']} had lost {first['worker']} {duration(seconds)} before"


def _failed_before_cancel(facts: pl.DataFrame) -> bool:
    """Return True if a task is known to have failed before its step was cancelled: srun then cancels it.

    An exit code in a file of its own has no place in time; what a cancelled task may end with does not count.
    """
    cancelled = facts.filter(key="cancelled_at").group_by("source").agg(stop=pl.col("line").min())
    codes = facts.filter(~pl.col("value").is_in(["0", "running"]), key="exit_code")
    placed = codes.join(cancelled, on="source", how="left")
    earlier = pl.col("line") < pl.col("stop")
    of_a_cancel = pl.col("value").is_in([_SIGTERM, _SIGKILL])
    return not placed.filter(earlier | (pl.col("stop").is_null() & ~of_a_cancel)).is_empty()


def _first_time(facts: pl.DataFrame, key: str) -> float | None:
    """Return the first time that facts of a key state, in seconds since 1970."""
    for value in facts.filter(key=key)["value"].to_list():
        try:
            return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None
