"""Finds which worker went silent before its peers, and for how long.

A pause no longer than the worker's earlier ones is healthy: compilation, evaluation or a checkpoint.
A worker whose clock cannot be aligned is measured on its own clock.
Of epochs that a log without times reports, the durations that Keras prints tell when the last one ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.training.clocks import SAME
from analyzer.derive.training.leave_one_out import range_of_others
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import ZONE_STEP_SECONDS, CommonClock
from analyzer.tables.collection_time import NO_TIME, CollectionTime
from analyzer.tables.grouping import grouped

SHORTEST = 5.0
"""Minimum length of a silence in seconds."""

_SHORTEST_ESTIMATED = 600.0
"""The same where the end of the last epoch is estimated: saving and evaluation come on top of it."""
_USUAL = 2.0
"""Longest pauses within which the next progress was still to be expected."""
_GRACE = 120.0
"""Longest time in seconds that launchers give a process from SIGTERM to SIGKILL; 10 to 90 s are usual.

TensorFlow 2.11 and later only notes a SIGTERM, so a loop that does not ask for it trains on until SIGKILL.
"""

Times = Mapping[tuple[str, int], Sequence[tuple[str, float, float]]]
"""(worker, attempt) → kind of file, last time, and longest pause between two times."""


class _ProgressEnd(NamedTuple):
    """Silence of a worker after its last progress, on the common clock, and its longest earlier `pause`."""

    worker: str
    since: float
    until: float
    pause: float
    compared: bool
    estimated: bool = False


def silences(
    lifetimes: pl.DataFrame,
    scalars: pl.DataFrame,
    clock: CommonClock,
    stop: float | None = None,
    collected: CollectionTime = NO_TIME,
    logs: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    facts: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return how long each training worker with known times was silent, one row per worker.

    The silence lasts until the scheduler ended the job (`stop`), if its clock is that of the logs; that of a
    worker that still ran, until the files were `collected`. `logs`, the tables records and sources, tell when
    epochs without times ended, and `facts` who caught SIGTERM and when.
    """
    training = lifetimes.filter("trains").to_dicts()
    times = _times(scalars)
    ends = [*_progress_ends(training, times, clock)]
    if not ends and logs is not None:
        ends = [*_estimated_ends(training, scalars, *logs, clock)]
    quiet = list(_until_stopped(ends, stop))
    lives = {life["worker"]: life for life in training}
    quiet = [_until_collected(each, lives[each.worker]["ended"] == "running", collected) for each in quiet]
    comparable = all(each.compared and not each.estimated for each in quiet)
    others = range_of_others({each.worker: each.since for each in quiet}) if comparable else {}
    caught = {} if facts is None else _sigterm_times(facts, lives, clock, times)
    rows = (_row(each, others.get(each.worker), lives[each.worker]) for each in quiet)
    return frame("silences", (row | _asked(row, caught.get(row["worker"])) for row in rows))


def _sigterm_times(
    facts: pl.DataFrame, lives: Mapping[str, Mapping[str, Any]], clock: CommonClock, times: Times
) -> dict[str, float | None]:
    """Return worker with times of its progress → when its last attempt first says that it caught SIGTERM."""
    found: dict[str, float | None] = {}
    for row in facts.filter(key="sigterm").drop_nulls(["worker", "time"]).iter_rows(named=True):
        life, attempt = lives.get(row["worker"]), row["attempt"]
        if not life or (row["worker"], attempt) not in times:
            continue
        if life["phase"] == "training" and attempt == max(1, life["attempts"]):
            found.setdefault(row["worker"], clock.time(row["worker"], row["source"], row["time"]))
    return found


def _asked(row: Mapping[str, Any], caught: float | None) -> dict[str, Any]:
    """Return whether a worker caught SIGTERM no later after its progress than its usual pauses explain.

    It may have gone on for the time that launchers wait before SIGKILL.
    """
    if caught is None or row["since"] is None:
        return {}
    return {"asked_at_work": -_GRACE <= caught - row["since"] <= max(SHORTEST, _USUAL * row["pause"])}


def _progress_ends(
    training: Sequence[Mapping[str, Any]], times: Times, clock: CommonClock
) -> Iterator[_ProgressEnd]:
    ends = (life["last_seen"] for life in training if clock.knows(life["worker"]))
    latest = max((end for end in ends if end is not None), default=None)
    for life in training:
        worker, compared = life["worker"], clock.knows(life["worker"])
        last, pause = _last_progress(life, times, clock)
        since = last if last is not None or life["step"] is not None else life["last_seen"]
        until = life["last_seen"] if latest is None or not compared else latest
        if since is not None and until is not None:
            yield _ProgressEnd(worker, since, until, pause, compared)


def _estimated_ends(
    training: Sequence[Mapping[str, Any]],
    scalars: pl.DataFrame,
    records: pl.DataFrame,
    sources: pl.DataFrame,
    clock: CommonClock,
) -> Iterator[_ProgressEnd]:
    """Yield the estimated end of the last epoch of each worker whose log dates no line after it.

    That is its last time plus the durations that `fit` prints. All of them together count as one pause, for
    what `fit` does between epochs is no part of them.
    """
    took = _epoch_seconds(scalars)
    undated = records.filter(pl.col("time").is_null() & (pl.col("kind") == "progress"))
    last = undated.join(sources.select("source", "last_time"), on="source").unique("worker", keep="last")
    begun = {row["worker"]: row for row in last.filter(pl.col("near") == pl.col("last_time")).to_dicts()}
    for life in training:
        worker, seconds = life["worker"], took.get((life["worker"], max(1, life["attempts"])))
        row = begun.get(worker)
        seen = clock.time(worker, row["source"], row["near"]) if row else None
        if seconds and seen is not None and seen == life["last_seen"]:
            since = seen + seconds
            yield _ProgressEnd(worker, since, since, seconds, clock.knows(worker), estimated=True)


def _epoch_seconds(scalars: pl.DataFrame) -> dict[tuple[str, int], float]:
    """Return (worker, attempt) → seconds of all epochs that `fit` reports on lines without a time."""
    ended = scalars.filter(
        (pl.col("origin") == "fit") & (pl.col("tag") == "step_seconds") & (pl.col("step") == pl.col("steps")),
        pl.col("time").is_null() & pl.col("worker").is_not_null(),
    )
    seconds = (pl.col("value") * pl.col("steps")).sum()
    return {
        (worker, attempt): took
        for worker, attempt, took in ended.group_by("worker", "attempt").agg(seconds).iter_rows()
    }


def _until_stopped(quiet: Sequence[_ProgressEnd], stop: float | None) -> Sequence[_ProgressEnd]:
    """Return the silences extended to `stop`, unless that is the last progress in another time zone."""
    last = max((each.since for each in quiet), default=None)
    pause = max((each.pause for each in quiet), default=0.0)
    if last is None or stop is None or (stop - last) % ZONE_STEP_SECONDS <= max(pause, SHORTEST):
        return quiet
    return [each._replace(until=max(each.until, stop)) for each in quiet]


def _until_collected(quiet: _ProgressEnd, runs: bool, collected: CollectionTime) -> _ProgressEnd:
    """Return a silence, extended to the collection of the files if the worker still ran and it was long."""
    seconds = collected.silence(quiet.since, quiet.pause) if runs else None
    return quiet if seconds is None else quiet._replace(until=max(quiet.until, quiet.since + seconds))


def _times(scalars: pl.DataFrame) -> Times:
    """Return the last time and longest pause of each attempt, per kind of file."""
    kind = pl.when(pl.col("origin") == "event_file").then(pl.lit("event_file")).otherwise(pl.lit("log"))
    dated = scalars.filter(pl.col("worker").is_not_null() & pl.col("time").is_not_null())
    kinds = dated.group_by("worker", "attempt", kind.alias("kind"), maintain_order=True).agg(
        pl.col("time").max(), longest=pl.col("time").unique().sort().diff().max().fill_null(0.0)
    )
    return grouped(((worker, attempt), (name, *times)) for worker, attempt, name, *times in kinds.iter_rows())


def _last_progress(life: Mapping[str, Any], times: Times, clock: CommonClock) -> tuple[float | None, float]:
    """Return when the last attempt last made progress, and its longest pause before that."""
    latest, longest = None, 0.0
    for kind, end, pause in times.get((life["worker"], max(1, life["attempts"])), ()):
        last = clock.of_kind(life["worker"], kind, end)
        latest = last if latest is None else max(latest, last or latest)
        longest = max(longest, pause)
    return latest, longest


def _row(quiet: _ProgressEnd, others: tuple[float, float] | None, life: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row; `others` holds the first and last time of the others, None without comparable clocks."""
    seconds = max(0.0, quiet.until - quiet.since)
    clearly_first = others is not None and quiet.since + max(SAME, quiet.pause) < others[0]
    return {
        "worker": quiet.worker,
        "since": quiet.since,
        "seconds": seconds,
        "pause": quiet.pause,
        "silent": seconds >= (_SHORTEST_ESTIMATED if quiet.estimated else SHORTEST)
        and seconds > quiet.pause
        and life["ended"] != "finished",
        "first": bool(life["behind_all"]) or clearly_first,
        "compared": quiet.compared,
    }
