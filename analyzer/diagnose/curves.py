"""The curves of one worker, as many points of them as a page can draw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from analyzer.schema import GAUGE, VALIDATION

MOST_POINTS = 240
"""Points kept of one curve; first, last and every value that is not finite among them."""
STEP_TIME = "seconds per step"


def drawn(scalars: pl.DataFrame, curves: pl.DataFrame, steps: pl.DataFrame) -> list[dict[str, Any]]:
    """The log's own values, those of event files only where the log has none; and how long steps took."""
    curves = curves.filter(pl.col("origin") != GAUGE)
    from_log = curves.filter(pl.col("origin") != "event_file")
    chosen = from_log if from_log.height else curves
    made = []
    parts = scalars.partition_by("tag", "origin", as_dict=True)
    for curve in chosen.iter_rows(named=True):
        values = parts[curve["tag"], curve["origin"]]
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
    took = _between_steps(scalars) or _traced_steps(steps)
    return [*made, _step_time(took)] if len(took) > 1 else made


def _between_steps(scalars: pl.DataFrame) -> list[list[Any]]:
    """Step, seconds and time of each dated step, by the source that dates most; steps left out share."""
    dated = scalars.filter(
        pl.col("time").is_not_null()
        & pl.col("step").is_not_null()
        & (pl.col("origin") != "fit")
        & (pl.col("origin") != GAUGE)
        & ~pl.col("tag").str.contains(VALIDATION)
        & ~pl.col("tag").str.contains("^(?:val|epoch)_")
    )
    if not dated.height:
        return []
    _, most = max((count, source) for source, count in dated.group_by("source").len().iter_rows())
    place = ["attempt", pl.col("epoch").fill_null(0), "step"]
    first = dated.filter(pl.col("source") == most).group_by(place).agg(pl.col("time").min())
    rows = first.sort("attempt", "epoch", "step").iter_rows()
    return [
        [later, round((end - start) / (later - step), 6), end]
        for (*life, step, start), (*other, later, end) in pairwise(rows)
        if life == other and end > start
    ]


def _traced_steps(steps: pl.DataFrame) -> list[list[Any]]:
    """The same of the steps of a trace, numbered as far as the trace numbers them."""
    rows = steps.sort("source", "nth").select("step", "nth", "seconds", "start").iter_rows()
    return [[nth if step is None else step, round(seconds, 6), start] for step, nth, seconds, start in rows]


def _step_time(took: list[list[Any]]) -> dict[str, Any]:
    """The curve; of many steps, the quickest and the slowest of each stretch are kept."""
    every = math.ceil(2 * len(took) / MOST_POINTS)
    kept = took
    if len(took) > MOST_POINTS:
        stretches = [took[at : at + every] for at in range(0, len(took), every)]
        ends = [(min(part, key=_seconds), max(part, key=_seconds)) for part in stretches]
        kept = sorted((point for pair in ends for point in pair), key=lambda point: point[0])
    return {"tag": STEP_TIME, "scope": "local", "kept": len(kept), "total": len(took), "points": kept}


def _seconds(point: list[Any]) -> float:
    return float(point[1])


def _thinned(values: pl.DataFrame) -> pl.DataFrame:
    if values.height <= MOST_POINTS:
        return values
    every = math.ceil(values.height / (MOST_POINTS - 2))
    first_bad = (~values["value"].is_finite()).arg_true()[:1]
    return values[sorted({*range(0, values.height, every), values.height - 1, *first_bad})]


def _point(row: Mapping[str, Any]) -> list[Any]:
    """Under `fit`, steps count on through the epochs."""
    done = ((row["epoch"] or 1) - 1) * (row["steps"] or 0) if row["origin"] == "fit" else 0
    return [done + (row["step"] or 0), _number(row["value"]), row["time"]]


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
