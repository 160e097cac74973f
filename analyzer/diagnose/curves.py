"""The curves of one worker, as many points of them as a page can draw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from analyzer.schema import GAUGE

MOST_POINTS = 240
"""Points kept of one curve; first, last and every value that is not finite among them."""


def drawn(scalars: pl.DataFrame, curves: pl.DataFrame) -> list[dict[str, Any]]:
    """The log's own values; those of event files only where the log has none."""
    curves = curves.filter(pl.col("origin") != GAUGE)
    from_log = curves.filter(pl.col("origin") != "event_file")
    chosen = from_log if from_log.height else curves
    made = []
    for curve in chosen.iter_rows(named=True):
        values = scalars.filter((pl.col("tag") == curve["tag"]) & (pl.col("origin") == curve["origin"]))
        points = [_point(row) for row in _thinned(values).iter_rows(named=True)]
        made.append(
            {
                "tag": curve["tag"],
                "scope": curve["scope"],
                "kept": len(points),
                "total": values.height,
                "points": points,
            }
        )
    return made


def _thinned(values: pl.DataFrame) -> pl.DataFrame:
    if values.height <= MOST_POINTS:
        return values
    every = math.ceil(values.height / (MOST_POINTS - 2))
    row = pl.int_range(pl.len())
    first_bad = (~pl.col("value").is_finite()) & (~pl.col("value").is_finite()).cum_sum().eq(1)
    return values.filter((row % every == 0) | (row == pl.len() - 1) | first_bad)


def _point(row: Mapping[str, Any]) -> list[Any]:
    """Under `fit`, steps count on through the epochs."""
    done = ((row["epoch"] or 1) - 1) * (row["steps"] or 0) if row["origin"] == "fit" else 0
    return [done + (row["step"] or 0), _number(row["value"]), row["time"]]


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
