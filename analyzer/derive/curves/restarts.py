"""Compares the values of a worker's attempt with those of the one before it."""

import math
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from analyzer.derive.curves.positions import is_before, order
from analyzer.derive.curves.summaries import PLACE, START, ratio

_LAST = 10
"""Number of values before a restart that the first values after the restart are compared with."""


def resumed(finite: pl.DataFrame) -> dict[str, Any]:
    """Return the worst rise from the end of one attempt to the start of the next; empty for one attempt."""
    attempts = [life for _, life in finite.group_by("attempt", maintain_order=True)]
    start = finite["value"][: min(START, attempts[0].height)].median() if attempts else None
    found = [_compare_attempts(before, after, start) for before, after in pairwise(attempts)]
    return max(reversed(found), key=lambda one: one["resumed_rise"] or -math.inf, default={})


def _compare_attempts(before: pl.DataFrame, after: pl.DataFrame, start: Any) -> dict[str, Any]:  # noqa: ANN401
    last, first = before.row(-1, named=True), after.row(0, named=True)
    same = before.filter(*(pl.col(name).eq_missing(first[name]) for name in ("step", "epoch")))
    held = same.row(-1, named=True) if same.height else last
    return {
        "resumed_epoch": first["epoch"],
        "resumed_step": first["step"],
        "left_epoch": last["epoch"],
        "left_step": last["step"],
        "resumed_value": first["value"],
        "resumed_growth": ratio(first["value"], held["value"]),
        **{key: first[key] for key in PLACE},
        "outdone": max(map(order, after.iter_rows(named=True))) > order(last),
        "anew": order(first) <= order(before.row(0, named=True)) and before.height > 1,
        **_regression(before.filter(is_before(*order(first))), after, start),
    }


def _regression(before: pl.DataFrame, after: pl.DataFrame, start: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return how far the first values after a restart exceed the last before it; None for too few values."""
    later = before["value"][before.height // 2 :].to_list()[-_LAST:]
    if len(later) < START or after.height < 2:
        return {"resumed_lost": None, "resumed_rise": None}
    held, noise = median(later), median(abs(one - other) for one, other in pairwise(later))
    rise = min(after["value"][:2].to_list()) - max(later)
    return {
        "resumed_lost": (after["value"][0] - held) / (start - held) if start > held else None,
        "resumed_rise": rise / noise if noise else math.copysign(math.inf, rise),
    }
