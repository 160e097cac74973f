"""Distinguishes workers ended from outside from those that a launcher ended because another had ended."""

from datetime import UTC, datetime

import polars as pl

_ENDED_BY_SCHEDULER = ["DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"]
"""States of Slurm's accounting in which something other than the program ended the job."""
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
    """Return when the scheduler or a CI server says that it ended the job; None if it does not.

    It ended the job for time or on request. The time is that of its own host.
    """
    for value in facts.filter(key="ended_at")["value"].to_list():
        try:
            return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    passed = facts.filter(key="time_limit_passed").drop_nulls("time")
    return passed["time"][0] if passed.height else None
