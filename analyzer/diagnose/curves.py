"""Selects the curves of each worker and the readings of its machine, and downsamples them for drawing."""

import math
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import polars as pl

from analyzer.model.contract import DrawnCurve, DrawnReading, JsonNumber
from analyzer.model.schema import GAUGE, POSITIONS, VALIDATION
from analyzer.tables.grouping import grouped
from analyzer.tables.step_times import step_times

MAX_POINTS = 240
"""Maximum number of points per curve; includes the first, the last and the first non-finite value."""
STEP_TIME = "seconds per step"
_CURVE = ("worker", "tag", "origin")
_TIMED = ("worker", "source", "attempt", "tag", "origin", "epoch", "step", "time")
_POINT = (*_CURVE, "epoch", "step", "steps", "value", "time")
MAX_READINGS = 120
"""Maximum number of points per curve: as many buckets of readings, of each the highest."""
_MIN_READINGS = 3
_READING = ("worker", "tag")
_DEVICE = r"^gpu\d+/"
_MEASURED = (
    "rss_bytes", "memory_used_bytes", "cpu_percent", "gpu/utilization_percent", "gpu/memory_used_bytes",
    "open_files_count",
)  # fmt: skip

_OF_A_CURVE = [
    "worker", "tag", "origin", "scope", "quantity", "nonfinite",
    "exploded", "exploded_epoch", "exploded_step", "exploded_steps",
]  # fmt: skip
"""What of a curve decides how it is drawn; all its columns would take 25 MB with 10,000 workers."""

Point = list[Any]


def drawn(scalars: pl.DataFrame, curves: pl.DataFrame, steps: pl.DataFrame) -> dict[str, list[DrawnCurve]]:
    """Return worker → curves to draw: its metrics, from event files only without a log, and step times."""
    points = _points(scalars)
    rows = curves.filter(pl.col("origin") != GAUGE).select(_OF_A_CURVE).iter_rows(named=True)
    made: dict[str, list[DrawnCurve]] = {}
    for worker, own in grouped((row["worker"], row) for row in rows).items():
        logged = [curve for curve in own if curve["origin"] != "event_file"]
        made[worker] = [_drawn(curve, points) for curve in logged or own]
    for worker, took in {**_traced_steps(steps), **_between_steps(scalars)}.items():
        if len(took) > 1:
            made.setdefault(worker, []).append(_step_time(took))
    return made


def _points(scalars: pl.DataFrame) -> dict[tuple[str, ...], tuple[int, bool, list[Point]]]:
    """Return (worker, tag, origin) → number of its values, whether they belong to epochs, points to draw."""
    by_epoch = (pl.col("step").is_null() & pl.col("epoch").is_not_null()).all().over(_CURVE)
    of_curves = (pl.col("origin") != GAUGE) & ~pl.col("tag").is_in(POSITIONS)
    kept = _downsampled(scalars.select(*_POINT).filter(of_curves).with_columns(by_epoch=by_epoch))
    columns = kept.group_by(_CURVE, maintain_order=True).agg(
        pl.col("total", "by_epoch").first(), "epoch", "step", "steps", "value", "time"
    )
    return {
        (worker, tag, origin): (
            total,
            epochs,
            [
                _point(origin, epoch, epoch if epochs else step, *value)
                for epoch, step, *value in zip(*cells, strict=True)
            ],
        )
        for worker, tag, origin, total, epochs, *cells in columns.iter_rows()
    }


def _drawn(
    curve: Mapping[str, Any], drawn_points: Mapping[tuple[str, ...], tuple[int, bool, list[Point]]]
) -> DrawnCurve:
    total, by_epoch, points = drawn_points[curve["worker"], curve["tag"], curve["origin"]]
    made: DrawnCurve = {
        "tag": curve["tag"],
        "scope": curve["scope"],
        "kept": len(points),
        "total": total,
        "points": points,
    }
    if by_epoch:
        made["axis"] = "epoch"
    if curve["exploded"] and curve["quantity"] == "training_loss" and not curve["nonfinite"]:
        epoch, step, steps = (curve[f"exploded_{key}"] for key in ("epoch", "step", "steps"))
        made["exploded_at"] = _point(curve["origin"], epoch, step, steps, math.inf, None)[0]
    return made


def _between_steps(scalars: pl.DataFrame) -> dict[str, list[Point]]:
    """Return worker → (step, seconds, time) of each dated step; time is split over unlogged steps."""
    dated = scalars.select(*_TIMED).filter(
        pl.all_horizontal(pl.col("worker", "time", "step").is_not_null()),
        ~pl.col("origin").is_in(["fit", GAUGE]),
        ~pl.col("tag").str.contains(f"{VALIDATION}|^(?:val|epoch)_"),
    )
    times = step_times(dated.with_columns(pl.col("epoch").fill_null(0)), ["attempt", "epoch"])
    return grouped((worker, [step, round(seconds, 6), time]) for worker, step, seconds, time in times.rows())


def _traced_steps(steps: pl.DataFrame) -> dict[str, list[Point]]:
    """Return worker → its traced steps, each as [step, duration in seconds, start time]."""
    rows = steps.sort("source", "nth").select("worker", "step", "nth", "seconds", "start").iter_rows()
    return grouped(
        (worker, [nth if step is None else step, round(seconds, 6), start])
        for worker, step, nth, seconds, start in rows
    )


def _step_time(took: list[Point]) -> DrawnCurve:
    """Return the step-time curve; if downsampled, with the fastest and slowest step of each bucket."""
    every, seconds = math.ceil(2 * len(took) / MAX_POINTS), itemgetter(1)
    kept = took
    if len(took) > MAX_POINTS:
        buckets = [took[at : at + every] for at in range(0, len(took), every)]
        ends = [(min(part, key=seconds), max(part, key=seconds)) for part in buckets]
        kept = sorted((point for pair in ends for point in pair), key=itemgetter(0))
    return {"tag": STEP_TIME, "scope": "local", "kept": len(kept), "total": len(took), "points": kept}


def _downsampled(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each curve that are drawn, with the number of all its rows as `total`."""
    at, total, infinite = pl.int_range(pl.len()), pl.len(), ~pl.col("value").is_finite()
    every = (total / (MAX_POINTS - 2)).ceil()
    ends = (at == total - 1) | (infinite & (infinite.cum_sum() == 1))
    kept = (total <= MAX_POINTS) | (at % every == 0) | ends
    return scalars.with_columns(kept=kept.over(_CURVE), total=total.over(_CURVE)).filter("kept")


def _point(
    origin: str, epoch: int | None, step: int | None, steps: int | None, value: float, time: float | None
) -> Point:
    """Return [step, value, time]; `fit` counts steps per epoch, so those of earlier epochs are added."""
    done = ((epoch or 1) - 1) * (steps or 0) if origin == "fit" else 0
    return [done + (step or 0), json_number(value), time]


def json_number(value: float) -> JsonNumber:
    """Return the number, or "NaN", "Infinity" or "-Infinity" if JSON cannot represent it."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def readings_by_worker(scalars: pl.DataFrame) -> dict[str, list[DrawnReading]]:
    """Return worker → readings to draw; of several GPUs, the highest at each time."""
    dated = (pl.col("origin") == GAUGE) & pl.col("worker").is_not_null() & pl.col("time").is_not_null()
    read = scalars.filter(dated)
    if read.is_empty():
        return {}
    readings = (
        read.with_columns(pl.col("tag").str.replace(_DEVICE, "gpu/"))
        .filter(pl.col("tag").is_in(_MEASURED) & pl.col("value").is_finite())
        .group_by("worker", "tag", "time")
        .agg(pl.col("value").max())
        .sort("tag", "time")
    )
    found: dict[str, list[DrawnReading]] = {}
    for worker, tag, total, times, values in _highest(readings).iter_rows():
        points = [[round(time, 1), round(value, 3)] for time, value in zip(times, values, strict=True)]
        drawn: DrawnReading = {"tag": tag, "kept": len(points), "total": total, "points": points}
        found.setdefault(worker, []).append(drawn)
    return found


def _highest(readings: pl.DataFrame) -> pl.DataFrame:
    """Return worker, tag, number of readings, and times and values of the highest ones to draw."""
    at, every = pl.int_range(pl.len()), (pl.len() / MAX_READINGS).ceil()
    parts = readings.with_columns(bucket=(at // every).over(_READING), total=pl.len().over(_READING))
    is_highest = (pl.col("value").arg_max() == at).over(*_READING, "bucket")
    kept = parts.filter(is_highest & (pl.col("total") >= _MIN_READINGS))
    return kept.group_by(_READING, maintain_order=True).agg(pl.col("total").first(), "time", "value")
