"""Selects readings of each worker's machine, and downsamples them for drawing."""

import polars as pl

from analyzer.model.contract import DrawnReading
from analyzer.model.schema import GAUGE

MAX_POINTS = 120
"""Maximum number of points per curve: as many buckets of readings, of each the highest."""
_MIN_READINGS = 3
_CURVE = ("worker", "tag")
_DEVICE = r"^gpu\d+/"
_DRAWN = (
    "rss_bytes",
    "memory_used_bytes",
    "cpu_percent",
    "gpu/utilization_percent",
    "gpu/memory_used_bytes",
    "open_files_count",
)


def readings_by_worker(scalars: pl.DataFrame) -> dict[str, list[DrawnReading]]:
    """Return worker → readings to draw; of several GPUs, the highest at each time."""
    dated = (pl.col("origin") == GAUGE) & pl.col("worker").is_not_null() & pl.col("time").is_not_null()
    read = scalars.filter(dated)
    if read.is_empty():
        return {}
    readings = (
        read.with_columns(pl.col("tag").str.replace(_DEVICE, "gpu/"))
        .filter(pl.col("tag").is_in(_DRAWN) & pl.col("value").is_finite())
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
    at, every = pl.int_range(pl.len()), (pl.len() / MAX_POINTS).ceil()
    parts = readings.with_columns(bucket=(at // every).over(_CURVE), total=pl.len().over(_CURVE))
    is_highest = (pl.col("value").arg_max() == at).over(*_CURVE, "bucket")
    kept = parts.filter(is_highest & (pl.col("total") >= _MIN_READINGS))
    return kept.group_by(_CURVE, maintain_order=True).agg(pl.col("total").first(), "time", "value")
