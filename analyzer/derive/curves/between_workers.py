"""Compares the curves of one metric between workers."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.derive.curves.positions import is_before


def compare(group: Sequence[dict[str, Any]], values: pl.DataFrame) -> None:
    """Add to each curve, in place, the number of steps that all workers share and how many are equal."""
    if len(group) < 2:
        return
    last = values.group_by("worker", "epoch", "step").agg(pl.col("value").last())
    finite = last.filter(pl.col("value").is_finite())
    steps = finite.group_by("epoch", "step").agg(
        pl.col("worker").n_unique(), pl.col("value").n_unique(), printed=pl.col("value").first()
    )
    shared = steps.filter(pl.col("worker") == len(group))
    alike = shared.filter(pl.col("value") == 1)
    equal, distinct = alike.height, alike["printed"].n_unique()
    differing = _locally_different(group, equal, shared.height)
    for row in group:
        row.update(common=shared.height, equal=equal, distinct=distinct, unequal=shared.height - equal)
        if differing and row["scope"] == "unknown":
            row["scope"] = "local"


def _locally_different(group: Sequence[Mapping[str, Any]], equal: int, shared: int) -> bool:
    """Return True if values of a custom loop or of event files mostly differ between workers."""
    return group[0]["origin"] in {"loop", "event_file"} and shared >= 3 and equal * 4 < shared


def first_nonfinite(group: Sequence[dict[str, Any]], values: pl.DataFrame) -> None:
    """Mark, in place, the only local curve that was the first with a value that is not finite.

    No curve is marked if another one ends before that value, as in a log that was cut.
    """
    bad = [row for row in group if row["nonfinite"]]
    places = [(row.get("nonfinite_epoch") or 0, row.get("nonfinite_step") or 0) for row in bad]
    earliest = min(places, default=None)
    first = [row["worker"] for row, place in zip(bad, places, strict=True) if place == earliest]
    arrived = {*values.filter(~is_before(*earliest))["worker"]} if earliest else set()
    compared = arrived >= {row["worker"] for row in group}
    for row in group:
        alone = len(group) > 1 and first == [row["worker"]] and compared
        row["nonfinite_first"] = alone and row["scope"] == "local"
