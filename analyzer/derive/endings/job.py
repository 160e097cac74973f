"""Summarizes the job: whether it assembled, trained, finished or stalled."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from analyzer.derive.endings.startup_wait import wait_shown, waited
from analyzer.derive.endings.teardown import LOSSES, lost_before_stop, scheduler_stop
from analyzer.derive.training.ordering import printed_after_end
from analyzer.derive.training.resources import duration
from analyzer.model.task_names import split_task
from analyzer.tables.builders import frame
from analyzer.tables.collection_time import IN_A_ZONE, NO_TIME, CollectionTime

_TENSORFLOW = r"(?i)tensorflow|keras|/job:\w+/"
_FIRST_PROMISED = (2, 4)
_FIRST_RELEASE = datetime(2015, 11, 9, tzinfo=UTC).timestamp()
_RELEASE_2_4 = datetime(2020, 12, 14, tzinfo=UTC).timestamp()
"""Release dates of TensorFlow and of TensorFlow 2.4, in seconds since 1970."""
_ENDED_BY_TIMEOUT = 124
"""Exit code with which the command `timeout` says that it ended what it had started."""
_MISSED_STEPS = 2
"""Longest pauses in training after which a worker that was stopped had clearly stood still before.

Whatever stops a worker comes up to one such pause after its last step, and its last lines some seconds later.
"""

_EVALUATION_SECONDS = 3_600.0
"""Longest silence of a job that announced an evaluation, if it made no longer pause before."""
_AGREE = 1.05
"""Ratio of the longest to the shortest silence up to which clocks that cannot be compared agree."""
_UNKNOWN_LENGTH = "the files do not show for how long"

Row = Mapping[str, Any]


def job(
    workers: pl.DataFrame,
    lifetimes: pl.DataFrame,
    silences: pl.DataFrame,
    records: pl.DataFrame,
    facts: pl.DataFrame,
    accusations: pl.DataFrame,
    stalls: pl.DataFrame,
    *,
    in_progress: bool,
    collected: CollectionTime = NO_TIME,
) -> pl.DataFrame:
    """Return the summary of the job, a table of one row.

    A job that is still in progress counts neither as stalled nor as waiting.
    """
    lives = lifetimes.to_dicts()
    training = [life for life in lives if life["trains"]]
    stop = scheduler_stop(facts)
    stopped = stop is not None
    evaluates = _evaluates(training, silences, facts)
    running = bool(training) and _count(training, "ended", "running") == len(training)
    in_progress = in_progress or _was_active(training, silences, collected) or bool(evaluates and running)
    seconds = waited(training, collected)
    row = {
        **_attendance(workers.to_dicts(), training),
        **_progress(training),
        "replicas_left_over": _replicas_left_over(training),
        "no_files": _count(lives, "ended", "never_started"),
        "workers_leader_awaited": _leader_awaited(lives, facts),
        "awaits_everyone": _awaits_everyone(lives, accusations),
        "lost_unlogged": _lost_unlogged(lives, accusations),
        "in_progress": in_progress,
        "evaluates": evaluates,
        "stalled": not (in_progress or evaluates) and _stalled(training, silences, stopped),
        "waited": seconds,
        "wait_shown": wait_shown(training, facts, accusations, stalls, seconds=seconds, stopped=stopped),
        "collection_doubt": collected.doubt or _zone_doubt(training, silences, collected),
        "own_exceptions": _count(lives, "own_exception", True),
        "unfailed": _unfailed(lives, accusations),
        "lost_before_stop": lost_before_stop(accusations, stop),
        "errors": _errors(records, lifetimes),
        "started": lifetimes["first_seen"].min(),
        "ended": lifetimes["last_seen"].max(),
        "strategy": _strategy(workers, facts),
        "hosts": _hosts(workers),
        "old_tensorflow": _old_tensorflow(workers, facts, lifetimes["first_seen"].min()),
        "other_framework": _other_framework(records, facts),
    }
    waits = row["waiting"] > 0 and not _count(training, "phase", "training") and not in_progress
    waits = waits and not _assembled(training)
    row |= {"never_assembled": waits and row["wait_shown"], "starting": waits and not row["wait_shown"]}
    if row["stalled"]:
        row["stood"] = _stood(training, silences)
    if row["stalled"] or row["never_assembled"]:
        row |= _latest_line(training)
    if row["never_assembled"]:
        row |= _server_line(training, facts)
    return frame("job", [row])


def _attendance(tasks: Sequence[Row], training: Sequence[Row]) -> dict[str, Any]:
    """Return how many tasks the job has and how many of them left files."""
    members = [task for task in tasks if task["expected"] and task["role"] != "evaluator"]
    return {
        "expected": len(members or tasks),
        "seen": _count(members, "seen", True) or _count(tasks, "seen", True),
        "unseen": _count(members, "seen", False),
        "most_seen": 2 * _count(training, "seen", True) > len(training),
    }


def _replicas_left_over(training: Sequence[Row]) -> int:
    """Return the remainder of the stated number of replicas divided by the number of training workers."""
    return max((life["replicas"] or 0 for life in training), default=0) % max(1, len(training))


def _progress(training: Sequence[Row]) -> dict[str, Any]:
    """Return how far the training workers came."""
    finished = _count(training, "ended", "finished")
    waiting = [life for life in training if life["phase"] == "server_up"]
    return {
        "trainers": len(training),
        "finished": finished,
        "all_finished": bool(training) and finished == len(training),
        "stepped": _count(training, "phase", "training", "finished") > 0,
        "starts_shown": all(life["start_shown"] for life in training if life["logged"]),
        "joined": _count(training, "phase", "joined", "training", "finished"),
        "waiting": sum(_ended_waiting(life) for life in waiting),
        "positions": len({(life["epoch"], life["step"]) for life in training}),
    }


def _ended_waiting(life: Row) -> bool:
    """Return True if nothing shows that a worker ended by itself; `timeout` ends a command that runs."""
    timed_out = life["ended"] == "exited" and life["exit_code"] == _ENDED_BY_TIMEOUT
    return timed_out or life["ended"] in {"running", "unknown", "stopped", "vanished"}


def _assembled(training: Sequence[Row]) -> bool:
    """Return True if the log of any worker shows that all tasks had connected."""
    return any(life["assembled"] for life in training)


def _hosts(workers: pl.DataFrame) -> int:
    """Count the machines that the workers name; a pod known only by its service counts as a machine."""
    service = pl.when(pl.col("address").str.contains(r"\.svc[.:]")).then("address")
    return workers.select(pl.coalesce("host", service)).to_series().drop_nulls().n_unique()


def _latest_line(training: Sequence[Row]) -> dict[str, Any]:
    """Return source, line and time cited for the training worker that was seen last; empty without a log."""
    cited = [life for life in training if life["line"] is not None]
    last = max(cited, key=lambda life: (life["step"] or 0, life["last_seen"] or 0.0), default={})
    return {key: last.get(key) for key in ("source", "line", "time")}


def _server_line(training: Sequence[Row], facts: pl.DataFrame) -> dict[str, Any]:
    """Return source, line and time of the start of a server that waits for the cluster; empty without one."""
    waiting = [life["worker"] for life in training if life["phase"] == "server_up"]
    started = facts.filter((pl.col("key") == "server_address") & pl.col("worker").is_in(waiting))
    rows = started.select("source", "line", "time").drop_nulls("line").tail(1).to_dicts()
    return rows[0] if rows else {}


def _old_tensorflow(workers: pl.DataFrame, facts: pl.DataFrame, started: object) -> str | None:
    """Return the evidence for TensorFlow before 2.4: version, wording or the log's year; else None."""
    stated = workers["tensorflow"].drop_nulls().sort().to_list()
    if stated:
        older = [version for version in stated if tuple(map(int, version.split(".")[:2])) < _FIRST_PROMISED]
        return f"TensorFlow {older[0]}" if older else None
    if "older_dialect" in facts["key"]:
        return "words of TensorFlow 1.x"
    if isinstance(started, float) and _FIRST_RELEASE < started < _RELEASE_2_4:
        return f"lines of {datetime.fromtimestamp(started, UTC).year}"
    return None


def _other_framework(records: pl.DataFrame, facts: pl.DataFrame) -> str | None:
    """Return where a log names PyTorch's distributed package, if no record is of TensorFlow; else None."""
    named = facts.filter(key="pytorch").select("source", "line").drop_nulls()
    if named.is_empty() or records["text"].str.contains(_TENSORFLOW).any():
        return None
    source, line = named.row(0)
    return f"{source}:{line} names its distributed package"


def _count(rows: Sequence[Row], column: str, *values: object) -> int:
    """Return how many rows have one of these values in a column."""
    return sum(row[column] in values for row in rows)


def _unfailed(lives: Sequence[Row], accusations: pl.DataFrame) -> str | None:
    """Return in words that no log shows a failure of a worker; None if one does."""
    lost = accusations.filter(pl.col("counts") & pl.col("kind").is_in(LOSSES))
    fell = _count(lives, "ended", "exception", "aborted_by_peer") or _count(lives, "own_exception", True)
    return None if fell or lost.height else "no log shows that a worker had failed"


def _leader_awaited(lives: Sequence[Row], facts: pl.DataFrame) -> int:
    """Count the workers that were up while the leader was still waiting for them."""
    stated = facts.filter(pl.col("key").is_in(["connected", "awaits"])).select("key", "value").rows()
    awaited = {task for key, task in stated if key == "awaits"}
    awaited -= {task for key, task in stated if key == "connected"}
    up = [life for life in lives if life["phase"] in {"server_up", "joined"} and life["leader"] is False]
    return sum(life["worker"] in awaited for life in up)


def _awaits_everyone(lives: Sequence[Row], accusations: pl.DataFrame) -> bool:
    """Return True if one task waits for all others, at least two, and none of them left a file."""
    absent = accusations.filter(pl.col("counts") & (pl.col("kind") == "absent"))
    awaited = [life for life in lives if split_task(life["worker"])[0] != "evaluator"]
    others = {life["worker"] for life in awaited} - {*absent["accuser"]}
    unseen = {life["worker"] for life in awaited if not life["seen"]}
    return len(others) > 1 and others <= unseen & {*absent["worker"]}


def _lost_unlogged(lives: Sequence[Row], accusations: pl.DataFrame) -> int:
    """Return how many tasks have no log and are reported lost by their peers."""
    lost = accusations.filter(pl.col("counts") & pl.col("kind").is_in(LOSSES))
    named = {*lost["worker"]}
    return sum(life["worker"] in named and not life["logged"] for life in lives)


def _stalled(training: Sequence[Row], silences: pl.DataFrame, stopped: bool) -> bool:
    """Return True if all workers were past start-up, none ended by itself and the plan was not done.

    A job that a scheduler `stopped` stalled only if all its workers had long been silent.
    """
    if not training or _count(training, "ended", "running", "stopped") < len(training):
        return False
    if _count(training, "phase", "joined", "training") < len(training) or _count(training, "went_on", True):
        return False
    if silences.height and silences["asked_at_work"].all(ignore_nulls=False):
        return False
    long_silent = silences.filter(pl.col("silent") & (pl.col("seconds") > _MISSED_STEPS * pl.col("pause")))
    if _count(training, "sigterm", True):
        return not (silences.height and long_silent.is_empty())
    ended_silent = stopped and silences.height == long_silent.height == len(training)
    return ended_silent or _count(training, "ended", "running") > 0


def _evaluates(training: Sequence[Row], silences: pl.DataFrame, facts: pl.DataFrame) -> str | None:
    """Return the words with which a log announces an evaluation below the last step; None without.

    They explain that no worker makes steps, unless one is behind or it takes longer than any evaluation may.
    """
    said = facts.filter(key="evaluates").drop_nulls("line").to_dicts()
    if (
        not said
        or _count(training, "behind_all", True)
        or not _count(training, "ended", "running", "stopped")
    ):
        return None
    longest = max([_EVALUATION_SECONDS, *(2 * pause for pause in silences["pause"])])
    if max(silences["seconds"], default=0.0) > longest:
        return None
    lives = {life["worker"]: life for life in training}
    since = dict(silences.select("worker", "since").iter_rows())
    for row in said:
        life = lives.get(row["worker"])
        if life and row["attempt"] == max(1, life["attempts"]) and _is_later(row, life, since):
            return str(row["excerpt"] or row["value"]).strip()
    return None


def _is_later(row: Row, life: Row, since: Mapping[str, float]) -> bool:
    """Return True if a fact stands below the last step of its worker, or is later than it."""
    if row["source"] == life["source"] and life["line"] is not None:
        return bool(row["line"] > life["line"])
    last = since.get(life["worker"])
    return row["time"] is not None and last is not None and row["time"] >= last


def _stood(training: Sequence[Row], silences: pl.DataFrame) -> str:
    """Return in words how long no training worker made progress, if their clocks or all durations agree."""
    known = silences.filter(pl.col("worker").is_in([life["worker"] for life in training]))
    times = known["seconds"].to_list()
    agree = known["compared"].all() or max(times, default=0.0) <= _AGREE * min(times, default=0.0)
    seconds = min(times) if agree and len(times) == len(training) else 0.0
    return f"this lasted {duration(seconds)}" if seconds >= 1 else _UNKNOWN_LENGTH


def _was_active(training: Sequence[Row], silences: pl.DataFrame, collected: CollectionTime) -> bool:
    """Return True if all were training when the files were collected, and none had long been silent."""
    if collected.moment is None or silences.height < len(training):
        return False
    if any(collected.silence(*since) is not None for since in silences.select("since", "pause").iter_rows()):
        return False
    return _count(training, "phase", "training") == _count(training, "ended", "running") == len(training)


def _zone_doubt(training: Sequence[Row], silences: pl.DataFrame, collected: CollectionTime) -> str | None:
    """Return the doubt whether a worker that still ran had long been silent; None without one."""
    running = {life["worker"] for life in training if life["ended"] == "running"}
    rows = silences.select("worker", "since", "pause").iter_rows()
    doubted = any(collected.is_in_a_zone(*since) for worker, *since in rows if worker in running)
    return IN_A_ZONE if doubted else None


def _errors(records: pl.DataFrame, lifetimes: pl.DataFrame) -> int:
    grave = records.filter(pl.col("level").is_in(["E", "F"]))
    return grave.height - int(printed_after_end(grave, lifetimes).sum())


def _strategy(workers: pl.DataFrame, facts: pl.DataFrame) -> str | None:
    named = facts.filter(pl.col("key") == "strategy")["value"].to_list()
    if "ps" in workers["role"].to_list():
        return "ParameterServerStrategy"
    serving = facts["key"].is_in(["server_address", "agent_connected"]).any()
    if "MultiWorkerMirroredStrategy" in named or (serving and workers.height > 1):
        return "MultiWorkerMirroredStrategy"
    return max(sorted(set(named)), key=named.count) if named else None
