"""The job as one thing: did it assemble, did it train, did it end, did it stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from analyzer.derive.places import behind_end
from analyzer.frames import frame

_QUIET_ENDS = ("running", "stopped", "unknown", "vanished", "signal")


def job(
    workers: pl.DataFrame,
    lifetimes: pl.DataFrame,
    silences: pl.DataFrame,
    records: pl.DataFrame,
    facts: pl.DataFrame,
) -> pl.DataFrame:
    """One row."""
    training = lifetimes.filter("trains")
    members = workers.filter(pl.col("expected") & (pl.col("role") != "evaluator"))
    expected = members.height or workers.height
    finished = training.filter(pl.col("ended") == "finished").height
    stepped = bool(training.filter(pl.col("phase").is_in(["training", "finished"])).height)
    waiting = training.filter(
        pl.col("phase").is_in(["server_up"])
        & pl.col("ended").is_in(["running", "unknown", "stopped", "vanished"])
    ).height
    row = {
        "expected": expected,
        "seen": members.filter("seen").height or workers.filter("seen").height,
        "unseen": members.filter(~pl.col("seen")).height,
        "traceless": lifetimes.filter(pl.col("ended") == "never_started").height,
        "missed": _missed(lifetimes, facts),
        "trainers": training.height,
        "finished": finished,
        "all_finished": bool(training.height) and finished == training.height,
        "stepped": stepped,
        "joined": training.filter(pl.col("phase").is_in(["joined", "training", "finished"])).height,
        "stalled": _stalled(training, silences),
        "never_assembled": waiting > 0 and not training.filter(pl.col("phase") == "training").height,
        "waiting": waiting,
        "own_exceptions": lifetimes.filter("own_exception").height,
        "errors": _errors(records, lifetimes),
        "started": lifetimes["started"].min(),
        "ended": lifetimes["last_seen"].max(),
        "strategy": _strategy(workers, facts),
        "hosts": workers["host"].drop_nulls().n_unique(),
        "positions": training.select("epoch", "step").n_unique(),
    }
    return frame("job", [row])


def _missed(lifetimes: pl.DataFrame, facts: pl.DataFrame) -> int:
    """How many were up and waited, while the leader waited for them."""
    connected = facts.filter(pl.col("key") == "connected")["value"]
    awaited = facts.filter((pl.col("key") == "awaits") & ~pl.col("value").is_in(connected.implode()))["value"]
    up = pl.col("phase").is_in(["server_up", "joined"]) & ~pl.col("leader")
    return lifetimes.filter(up & pl.col("worker").is_in(awaited.implode())).height


def _stalled(training: pl.DataFrame, silences: pl.DataFrame) -> bool:
    """Nobody ended by itself, all were past start-up, and the end was not the planned one."""
    if not training.height or training.filter(~pl.col("ended").is_in(_QUIET_ENDS)).height:
        return False
    if training.filter(~pl.col("phase").is_in(["joined", "training"])).height:
        return False
    if training.filter(~pl.col("ended").is_in(["running", "stopped"])).height:
        return False
    if training.filter("went_on").height:
        return False
    if training.filter("sigterm").height:
        return not silences.height or bool(silences["silent"].any())
    return bool(training.filter(pl.col("ended") == "running").height)


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
