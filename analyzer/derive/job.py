"""The job as one thing: did it assemble, did it train, did it end, did it stand still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.derive.ordering import behind_end
from analyzer.tables.builders import frame

Row = Mapping[str, Any]


def job(
    workers: pl.DataFrame,
    lifetimes: pl.DataFrame,
    silences: pl.DataFrame,
    records: pl.DataFrame,
    facts: pl.DataFrame,
) -> pl.DataFrame:
    """One row."""
    tasks, lives = workers.to_dicts(), lifetimes.to_dicts()
    training = [life for life in lives if life["trains"]]
    members = [task for task in tasks if task["expected"] and task["role"] != "evaluator"]
    finished = _count(training, "ended", "finished")
    waiting = sum(
        life["phase"] == "server_up" and life["ended"] in {"running", "unknown", "stopped", "vanished"}
        for life in training
    )
    row = {
        "expected": len(members or tasks),
        "seen": _count(members, "seen", True) or _count(tasks, "seen", True),
        "unseen": _count(members, "seen", False),
        "no_files": _count(lives, "ended", "never_started"),
        "workers_leader_awaited": _leader_awaited(lives, facts),
        "trainers": len(training),
        "finished": finished,
        "all_finished": bool(training) and finished == len(training),
        "stepped": _count(training, "phase", "training", "finished") > 0,
        "joined": _count(training, "phase", "joined", "training", "finished"),
        "stalled": _stalled(training, silences),
        "never_assembled": waiting > 0 and not _count(training, "phase", "training"),
        "waiting": waiting,
        "own_exceptions": _count(lives, "own_exception", True),
        "errors": _errors(records, lifetimes),
        "started": lifetimes["first_seen"].min(),
        "ended": lifetimes["last_seen"].max(),
        "strategy": _strategy(workers, facts),
        "hosts": workers["host"].drop_nulls().n_unique(),
        "positions": len({(life["epoch"], life["step"]) for life in training}),
    }
    return frame("job", [row])


def _count(rows: Sequence[Row], column: str, *values: object) -> int:
    """How many rows have one of these values."""
    return sum(row[column] in values for row in rows)


def _leader_awaited(lives: Sequence[Row], facts: pl.DataFrame) -> int:
    """How many were up and waited, while the leader waited for them."""
    told = facts.filter(pl.col("key").is_in(["connected", "awaits"])).select("key", "value").rows()
    awaited = {task for key, task in told if key == "awaits"}
    awaited -= {task for key, task in told if key == "connected"}
    up = [life for life in lives if life["phase"] in {"server_up", "joined"} and life["leader"] is False]
    return sum(life["worker"] in awaited for life in up)


def _stalled(training: Sequence[Row], silences: pl.DataFrame) -> bool:
    """Nobody ended by itself, all were past start-up, and the end was not the planned one."""
    if not training or _count(training, "ended", "running", "stopped") < len(training):
        return False
    if _count(training, "phase", "joined", "training") < len(training) or _count(training, "went_on", True):
        return False
    if _count(training, "sigterm", True):
        return not silences.height or bool(silences["silent"].any())
    return _count(training, "ended", "running") > 0


def _errors(records: pl.DataFrame, lifetimes: pl.DataFrame) -> int:
    grave = records.filter(pl.col("level").is_in(["E", "F"]))
    return grave.height - int(behind_end(grave, lifetimes).sum())


def _strategy(workers: pl.DataFrame, facts: pl.DataFrame) -> str | None:
    named = facts.filter(pl.col("key") == "strategy")["value"].to_list()
    if "ps" in workers["role"].to_list():
        return "ParameterServerStrategy"
    if "MultiWorkerMirroredStrategy" in named or _is_multi_worker(facts, workers):
        return "MultiWorkerMirroredStrategy"
    return _commonest(named)


def _is_multi_worker(facts: pl.DataFrame, workers: pl.DataFrame) -> bool:
    signs = facts.filter(pl.col("key").is_in(["server_address", "agent_connected"]))
    return bool(signs.height) and workers.height > 1


def _commonest(named: Sequence[Any]) -> str | None:
    return max(sorted(set(named)), key=named.count) if named else None
