"""Finds which worker went silent before its peers, and for how long.

A pause no longer than the worker's earlier ones is healthy: compilation, evaluation or a checkpoint.
A worker whose clock cannot be aligned is measured on its own clock.
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

Times = Mapping[tuple[str, int], Sequence[tuple[str, float, float]]]
"""(worker, attempt) → kind of file, last time, and longest pause between two times."""


class _ProgressEnd(NamedTuple):
    """Silence of a worker after its last progress, on the common clock, and its longest earlier `pause`."""

    worker: str
    since: float
    until: float
    pause: float
    compared: bool


def silences(
    lifetimes: pl.DataFrame,
    scalars: pl.DataFrame,
    clock: CommonClock,
    stop: float | None = None,
    collected: CollectionTime = NO_TIME,
) -> pl.DataFrame:
    """Return how long each training worker with known times was silent, one row per worker.

    The silence lasts until the scheduler ended the job (`stop`), if its clock is that of the logs; that of a
    worker that still ran, until the files were `collected`.
    """
    training = lifetimes.filter("trains").to_dicts()
    quiet = list(_until_stopped(list(_progress_ends(training, _times(scalars), clock)), stop))
    lives = {life["worker"]: life for life in training}
    quiet = [_until_collected(each, lives[each.worker]["ended"] == "running", collected) for each in quiet]
    comparable = all(each.compared for each in quiet)
    others = range_of_others({each.worker: each.since for each in quiet}) if comparable else {}
    return frame("silences", (_row(each, others.get(each.worker), lives[each.worker]) for each in quiet))


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
        "silent": seconds >= SHORTEST and seconds > quiet.pause and life["ended"] != "finished",
        "first": bool(life["behind_all"]) or clearly_first,
        "compared": quiet.compared,
    }
