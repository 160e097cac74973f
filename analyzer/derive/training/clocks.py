"""Estimates clock offsets between workers from the synchronous steps that they share.

Every synchronous step is a barrier: all workers log the same step at the same moment. Logs and event
files are compared separately because a log may use local time. Logs without such steps, which show the same
milestones of one start at a distance of whole quarters of an hour, are of two time zones.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from statistics import median_low
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.task_names import order
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import ZONE_STEP_SECONDS

MIN_STEPS = 3
"""Minimum number of shared steps for estimating an offset."""

SAME = 5.0
"""Largest difference in seconds between two clocks that count as equal."""

MIN_MILESTONES = 2
"""Minimum number of shared milestones of the start for telling a time zone."""
_LONGEST_ZONE_SECONDS = 86_400

_EVENT_FILE = "event_file"
_KINDS = ("log", _EVENT_FILE)


class _Offset(NamedTuple):
    """Clock offset in seconds, its `residual` (90th percentile of the deviations) and the steps used."""

    seconds: float
    residual: float
    steps: int
    basis: str = "steps"


def clocks(
    sources: pl.DataFrame, scalars: pl.DataFrame, facts: pl.DataFrame, workers: pl.DataFrame
) -> pl.DataFrame:
    """Return the clock offset of each training worker, per kind of file (log, event file)."""
    together = _synchronous_workers(workers, facts)
    kinds = () if scalars.is_empty() else _KINDS
    found = {kind: _offsets(_marks(scalars, kind, together), workers) for kind in kinds}
    if not found.get("log"):
        found["log"] = _zones(sources, facts, workers.filter("trains"))
    left = set(sources.filter(pl.col("read") != "skipped").select("worker", "kind").iter_rows())
    kept = [each for each in product(workers.filter("trains")["worker"], _KINDS) if each in left]
    return frame("clocks", (_row(worker, kind, found.get(kind, {}).get(worker)) for worker, kind in kept))


def _zones(sources: pl.DataFrame, facts: pl.DataFrame, trainers: pl.DataFrame) -> dict[str, _Offset]:
    """Return worker → offset of its time zone; empty if all logs may be of one, or their times overlap."""
    logs = sources.filter((pl.col("kind") == "log") & pl.col("worker").is_in(trainers["worker"].to_list()))
    edges = (
        logs.drop_nulls("first_time")
        .group_by("worker")
        .agg(first=pl.min("first_time"), last=pl.max("last_time"))
    )
    spans = {worker: (first, last) for worker, first, last in edges.iter_rows()}
    if len(spans) < 2:
        return {}
    timed = facts.filter(pl.col("source").is_in(logs["source"].to_list())).drop_nulls(["worker", "time"])
    marks: dict[str, dict[str, float]] = {worker: {} for worker in spans}
    for worker, key, time in timed.group_by("worker", "key").agg(pl.min("time")).iter_rows():
        marks.get(worker, {})[key] = time
    leaders = [each for each in trainers.filter("leader")["worker"] if each in spans]
    first = (leaders or sorted(spans, key=order))[0]
    zones = {each: zone for each in spans if (zone := _zone(marks[each], marks[first])) is not None}
    apart = (
        zone == 0 or spans[each][0] > spans[first][1] or spans[first][0] > spans[each][1]
        for each, zone in zones.items()
    )  # fmt: skip
    if not any(zones.values()) or not all(apart):
        return {}
    middle = median_low(zones.values()) if len(zones) > 2 else 0.0
    return {each: _Offset(zone - middle, SAME, 0, "zone") for each, zone in zones.items()}


def _zone(own: Mapping[str, float], theirs: Mapping[str, float]) -> float | None:
    """Return by how many seconds one time zone is ahead of another; None if the milestones do not tell."""
    ahead = [own[key] - theirs[key] for key in own.keys() & theirs.keys()]
    if len(ahead) < MIN_MILESTONES:
        return None
    zone = round(median_low(ahead) / ZONE_STEP_SECONDS) * float(ZONE_STEP_SECONDS)
    fits = abs(zone) < _LONGEST_ZONE_SECONDS and all(abs(each - zone) <= SAME for each in ahead)
    return zone if fits else None


def _synchronous_workers(workers: pl.DataFrame, facts: pl.DataFrame) -> list[str]:
    """Return the workers whose steps are barriers: no parameter-server jobs, no single-replica workers."""
    if "ps" in workers["role"].to_list():
        return []
    stated = facts.filter(pl.col("key") == "replicas").select("worker", "value").iter_rows()
    alone = {worker for worker, value in stated if value == "1"}
    return [worker for worker in workers.filter("trains")["worker"].to_list() if worker not in alone]


def _marks(scalars: pl.DataFrame, kind: str, workers: list[str]) -> pl.DataFrame:
    """Return one row per worker and training position, with the time at which it was first logged."""
    from_events = pl.col("origin") == _EVENT_FILE
    timed = scalars.select("worker", "attempt", "tag", "origin", "epoch", "step", "time").filter(
        pl.col("time").is_not_null()
        & pl.col("worker").is_in(workers)
        & (from_events if kind == _EVENT_FILE else ~from_events)
    )
    tag = pl.when(from_events).then(pl.col("tag")).otherwise(pl.lit("")).alias("tag")
    places = ["worker", "attempt", tag, "origin", pl.col("epoch").fill_null(-1), pl.col("step").fill_null(-1)]
    return timed.group_by(places).agg(pl.col("time").min())


def _offsets(marks: pl.DataFrame, workers: pl.DataFrame) -> dict[str, _Offset]:
    """Return worker → clock offset, relative to the leader (two workers) or to the median (more)."""
    timed = sorted(marks["worker"].unique().to_list(), key=order)
    if len(timed) < 2:
        return {}
    leader = workers.filter("leader")["worker"].to_list()
    first = leader[0] if leader and leader[0] in timed else timed[0]
    found = dict(_offsets_from(first, marks))
    if not found:
        return {}
    others = found.values()
    found[first] = _Offset(0.0, min(each.residual for each in others), max(each.steps for each in others))
    middle = median_low(each.seconds for each in found.values()) if len(found) > 2 else 0.0
    return {worker: each._replace(seconds=each.seconds - middle) for worker, each in found.items()}


def _offsets_from(first: str, marks: pl.DataFrame) -> Iterator[tuple[str, _Offset]]:
    """Yield each worker with the offset of its clock from the `first` one's.

    Attempts are compared by their numbers. If one worker has more of them than the other, as with the log of
    another night left beside those of this one, the two attempts that are closest in time are compared.
    """
    place = ["tag", "origin", "epoch", "step"]
    theirs = marks.filter(pl.col("worker") == first).select(*place, there="time", theirs="attempt")
    shared = marks.filter(pl.col("worker") != first).join(theirs, on=place)
    attempts = dict(marks.group_by("worker").agg(pl.col("attempt").n_unique()).iter_rows())
    alike = pl.col("worker").is_in([each for each, count in attempts.items() if count == attempts[first]])
    pair = pl.when(~alike).then(pl.struct("attempt", "theirs"))
    ahead = shared.filter(~alike | (pl.col("attempt") == pl.col("theirs"))).select(
        "worker", pair=pair, ahead=pl.col("time") - pl.col("there")
    )
    off = (pl.col("ahead") - pl.col("ahead").median()).abs().quantile(0.9, "higher")
    each = ahead.group_by("worker", "pair", maintain_order=True).agg(
        pl.col("ahead").median(), residual=off, steps=pl.len()
    )
    enough = each.filter(pl.col("steps") >= MIN_STEPS).drop("pair").sort(pl.col("ahead").abs())
    for worker, *offset in enough.unique("worker", keep="first", maintain_order=True).iter_rows():
        yield worker, _Offset(*offset)


def _row(worker: str, kind: str, found: _Offset | None) -> dict[str, Any]:
    if found is None:
        return {"worker": worker, "kind": kind, "basis": "none", "steps": 0}
    differs = abs(found.seconds) > max(SAME, found.residual)
    return {
        "worker": worker,
        "kind": kind,
        "basis": found.basis,
        "steps": found.steps,
        "offset": round(found.seconds, 3),
        "residual": round(found.residual, 3),
        "shift": round(found.seconds, 3) if differs else 0.0,
    }
