"""Selects readings of each worker's machine, and downsamples them for drawing."""

import math

import polars as pl

from analyzer.model.contract import DrawnReading
from analyzer.model.schema import GAUGE

MOST_POINTS = 120
"""Maximum number of points per curve: the highest reading of each of so many stretches of time."""
_FEWEST = 3
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
    for (worker, tag), own in readings.group_by("worker", "tag", maintain_order=True):
        if own.height >= _FEWEST:
            found.setdefault(str(worker), []).append(_drawn(str(tag), own))
    return found


def _drawn(tag: str, own: pl.DataFrame) -> DrawnReading:
    every = math.ceil(own.height / MOST_POINTS)
    stretch = pl.int_range(pl.len()) // every
    highest = own.filter(pl.col("value").arg_max().over(stretch) == pl.int_range(pl.len()).over(stretch))
    points = [[round(time, 1), round(value, 3)] for time, value in highest.select("time", "value").rows()]
    return {"tag": tag, "kept": len(points), "total": own.height, "points": points}
