"""Lists who arrived at each barrier of the training workers, and who was missing.

Barriers are cluster start-up, the end of each synchronous step, and the end of training. Saving a
checkpoint is also a barrier, but often only the leader logs it; then no file shows who was missing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from analyzer.derive.training.progress import Place, comparable, last_places
from analyzer.model.task_names import position
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock

_NUMBERED = re.compile(r"[-_.]\d+(?![A-Za-z])")
"""Regex of the number in the name of a checkpoint: `model.ckpt-40`, `epoch_03.keras`, not `weights.h5`."""
_COUNTED = re.compile(r"ckpt-\d+$")
"""Regex of a name that TensorFlow itself numbers: written again, it is the same checkpoint."""

_ENDED_LATER = {"signal", "stopped", "exited"}
"""Ends that may follow the line with which a worker reports its planned end."""
_ASSEMBLED = ("joined", "training", "finished")


def barriers(
    lifetimes: pl.DataFrame, scalars: pl.DataFrame, facts: pl.DataFrame, clock: CommonClock
) -> pl.DataFrame:
    """Return one row per barrier and training worker; of the steps and checkpoints only the last."""
    lives = lifetimes.filter("trains").to_dicts()
    if len(lives) < 2 or "ps" in {worker.partition(":")[0] for worker in lifetimes["worker"]}:
        return frame("barriers", ())
    shown = last_places(scalars)
    places = {life["worker"]: shown.get((life["worker"], max(1, life["attempts"]))) for life in lives}
    last_shown = {worker: found for worker, found in places.items() if found}
    rows = [
        *_startup_rows(lives, facts),
        *_step_rows(lives, last_shown),
        *_checkpoint_rows(lives, facts),
        *_end_rows(lives),
    ]
    for row in rows:
        row["time"] = clock.time(row["worker"], row.get("source"), row.get("time"))
    return frame("barriers", rows)


def _startup_rows(lives: list[dict[str, Any]], facts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    joined = facts.filter(pl.col("key") == "agent_connected").select("worker", "source", "line", "time")
    last = {row["worker"]: row for row in joined.iter_rows(named=True)}
    let_in = set(facts.filter(pl.col("key") == "connected")["value"].to_list())
    awaited = set(facts.filter(pl.col("key") == "awaits")["value"].to_list()) - let_in
    for life in lives:
        row = {"barrier": "startup", "arrived": _arrived_at_startup(life, let_in, awaited)}
        yield last.get(life["worker"], {}) | row | {"worker": life["worker"]}


def _arrived_at_startup(life: Mapping[str, Any], let_in: set[str], awaited: set[str]) -> bool | None:
    """Return True if a worker reached the start-up barrier, False if not, None if unknown.

    A worker whose server is up counts as arrived only if it joined or a peer reports it as connected; one
    that counts a single replica trains outside the cluster. A log that shows no start-up may begin later.
    """
    if life["replicas"] == 1:
        return False
    if life["phase"] in _ASSEMBLED or life["worker"] in let_in:
        return True
    if life["phase"] == "server_up" and life["worker"] not in awaited:
        return True if life["joined"] is not None else None
    if life["seen"] and life["place"] is None and life["worker"] not in awaited:
        return None
    return False if life["seen"] or life["ended"] == "never_started" else None


def _step_rows(lives: list[dict[str, Any]], last_shown: Mapping[str, Place]) -> Iterator[dict[str, Any]]:
    order = comparable(last_shown)
    if not order:
        return
    foremost = max(order.values())
    there = last_shown[next(worker for worker in order if order[worker] == foremost)]
    for life in lives:
        worker = life["worker"]
        found = last_shown.get(worker)
        where = {"source": found.source, "line": found.line, "time": found.time} if found else {}
        arrived = order[worker] == foremost if worker in order else None
        place = position(there.epoch, there.step)
        yield {"barrier": "step", "place": place, "worker": worker, "arrived": arrived, **where}


def _checkpoint_rows(lives: list[dict[str, Any]], facts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield one row per worker for the last checkpoint of the last attempts, if two or more log theirs."""
    attempts = {life["worker"]: max(1, life["attempts"]) for life in lives}
    latest = pl.col("attempt") == pl.col("worker").replace_strict(attempts, default=None)
    written = facts.filter(latest & (pl.col("key") == "checkpoint") & pl.col("line").is_not_null())
    several = written["value"].map_elements(_file_name, return_dtype=pl.String).n_unique() > 1
    own: dict[str, dict[tuple[str, int], dict[str, Any]]] = {life["worker"]: {} for life in lives}
    times: Counter[tuple[str, str]] = Counter()
    for row in written.select("worker", "value", "source", "line", "time").iter_rows(named=True):
        if (saved := own.get(row["worker"])) is not None:
            name = _file_name(row["value"])
            if not (_COUNTED if not several else _NUMBERED).search(name):  # its step says more than how often
                times[row["worker"], name] += 1
            saved[name, times[row["worker"], name]] = row
    if sum(map(bool, own.values())) < 2:
        return
    last = [*max(own.values(), key=len)][-1]
    for worker, saved in own.items():
        row = saved.get(last) or ([*saved.values()][-1] if saved else {})
        where = {key: row.get(key) for key in ("source", "line", "time")}
        arrived = last in saved if saved else None
        yield {"barrier": "checkpoint", "place": last[0], "worker": worker, "arrived": arrived, **where}


def _file_name(path: str) -> str:
    return PurePosixPath(path).name


def _end_rows(lives: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if not any(life["ended"] == "finished" for life in lives):
        return
    for life in lives:
        where = {"source": life["end_source"], "line": life["end_line"], "time": life["end_time"]}
        said_so = life["end_line"] is not None and life["ended"] in _ENDED_LATER
        arrived = None if life["ended"] == "unknown" else said_so or life["ended"] == "finished"
        yield {"barrier": "end", "worker": life["worker"], "arrived": arrived, **where}
