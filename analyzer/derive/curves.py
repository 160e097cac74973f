"""The numbers of training, worker beside worker.

Where they stop being finite, explode, stand still, jump, are equal, do not go on where a restart left them,
or differ between a worker's log and its event file.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from analyzer.frames import frame

_MARKS = ("step", "epoch")
_KEY = ("worker", "tag", "origin")
_ENOUGH = 20
"""Values from which it can be told whether they fall."""
_START = 3
"""First values, whose median the later ones are held against."""
_LAST = 10
"""The most values before a restart that the first one after it is held against."""


def curves(scalars: pl.DataFrame, workers: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """One row for each worker, tag and origin; `series` says which values log and event file share."""
    values = scalars.filter(pl.col("worker").is_not_null() & ~pl.col("tag").is_in(_MARKS)).with_row_index(
        "row"
    )
    rows = [
        _summary(group.row(0, named=True), group) for _, group in values.group_by(_KEY, maintain_order=True)
    ]
    trainers = workers.filter("trains")["worker"].to_list()
    by_tag: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_tag[row["tag"], row["origin"]].append(row)
    twins = _twins(series)
    for (tag, origin), group in by_tag.items():
        _compare(group, values.filter((pl.col("tag") == tag) & (pl.col("origin") == origin)))
        _first_nonfinite(group)
        for row in group:
            row |= twins.get((row["worker"], tag, origin == "event_file"), {"both": 0, "apart": 0})
            row["logged"] = row["both"] > 0 and row["apart"] == 0 if origin == "event_file" else None
            row["each_writes"] = {"event_file"} == {origin} and {r["worker"] for r in group} >= set(trainers)
    return frame("curves", rows)


def _summary(first: Mapping[str, Any], group: pl.DataFrame) -> dict[str, Any]:
    finite = group.filter(pl.col("value").is_finite())
    bad = group.filter(~pl.col("value").is_finite())
    start, end, top = _ends(finite)
    row = {
        "worker": first["worker"],
        "tag": first["tag"],
        "origin": first["origin"],
        "scope": _scope(group),
        "points": group.height,
        "first_value": start,
        "last_value": end,
        "max_value": top,
        "growth": _ratio(top, start),
        "last_growth": _ratio(end, start),
        "spread": _spread(finite, start),
        "fall": _fall(finite["value"]),
        **_jump(finite),
        "from_start": _from_start(group),
        "nonfinite": bad.height,
    }
    if bad.height:
        place = bad.row(0, named=True)
        row |= {f"nonfinite_{key}": place[key] for key in ("epoch", "step", "line", "source")}
        row |= _before(finite, place["row"])
    return row | _resumed(finite)


def _before(finite: pl.DataFrame, row: int) -> dict[str, Any]:
    """The last finite value before the first that is none."""
    earlier = finite.filter(pl.col("row") < row)
    if not earlier.height:
        return {}
    last = earlier.row(-1, named=True)
    return {"finite_epoch": last["epoch"], "finite_step": last["step"], "finite_value": last["value"]}


def _fall(values: pl.Series) -> float | None:
    """How far the later half lies under the start, in units of what neighbouring values differ by."""
    if len(values) < _ENOUGH:
        return None
    distance = _median(values[:_START]) - _median(values[len(values) // 2 :])
    noise = _median(values.diff().abs().drop_nulls())
    if not noise:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / noise


def _median(values: pl.Series) -> float:
    middle: float = values.median()  # type: ignore[assignment]  # of numbers
    return middle


def _jump(finite: pl.DataFrame) -> dict[str, Any]:
    """The largest step upwards from one value to the next, of values above zero."""
    positive = finite.filter(pl.col("value") > 0)
    ratios = positive["value"] / positive["value"].shift()
    at = ratios.arg_max()
    if at is None:
        return {}
    return {
        "jump": ratios[at],
        "jump_step": positive["step"][at],
        "jump_from": positive["value"][at - 1],
        "jump_to": positive["value"][at],
    }


def _from_start(group: pl.DataFrame) -> bool:
    """Whether the first value is of the first step, and of a first life."""
    first = group.row(0, named=True)
    alone = group["attempt"].n_unique() == 1 and (first["attempt"] or 1) == 1
    return alone and (first["epoch"] or 1) <= 1 and first["step"] is not None and first["step"] <= 1


def _resumed(finite: pl.DataFrame) -> dict[str, Any]:
    """How a life goes on where the one before it ended: of several, the one that does so worst."""
    lives = [life for _, life in finite.group_by("attempt", maintain_order=True)]
    start = finite["value"][: min(_START, lives[0].height)].median() if lives else None
    found = [_gone_on(before, after, start) for before, after in pairwise(lives)]
    return max(reversed(found), key=lambda one: one["resumed_rise"] or -math.inf, default={})


def _gone_on(before: pl.DataFrame, after: pl.DataFrame, start: Any) -> dict[str, Any]:  # noqa: ANN401
    last, first = before.row(-1, named=True), after.row(0, named=True)
    same = before.filter(
        pl.col("step").eq_missing(first["step"]) & pl.col("epoch").eq_missing(first["epoch"])
    )
    held = same.row(-1, named=True) if same.height else last
    return {
        "resumed_epoch": first["epoch"],
        "resumed_step": first["step"],
        "left_epoch": last["epoch"],
        "left_step": last["step"],
        "resumed_value": first["value"],
        "resumed_growth": _ratio(first["value"], held["value"]),
        "anew": _order(first) <= _order(before.row(0, named=True)) and before.height > 1,
        **_lost(before.filter(_reached(first)), after, start),
    }


def _reached(place: Mapping[str, Any]) -> pl.Expr:
    """What comes before a place."""
    epoch, step = pl.col("epoch").fill_null(0), pl.col("step").fill_null(0)
    at_epoch, at_step = _order(place)
    return (epoch < at_epoch) | ((epoch == at_epoch) & (step < at_step))


def _lost(before: pl.DataFrame, after: pl.DataFrame, start: Any) -> dict[str, Any]:  # noqa: ANN401
    """How far the first values after a restart lie above the last ones before it, where these are enough."""
    later = before["value"][before.height // 2 :].to_list()[-_LAST:]
    if len(later) < _START or after.height < 2:
        return {"resumed_lost": None, "resumed_rise": None}
    held, noise = median(later), median(abs(one - other) for one, other in pairwise(later))
    rise = min(after["value"][:2].to_list()) - max(later)
    return {
        "resumed_lost": (after["value"][0] - held) / (start - held) if start > held else None,
        "resumed_rise": rise / noise if noise else math.copysign(math.inf, rise),
    }


def _order(row: Mapping[str, Any]) -> tuple[int, int]:
    return (row["epoch"] or 0, row["step"] or 0)


def _twins(series: pl.DataFrame) -> dict[tuple[str, str, bool], dict[str, Any]]:
    """(worker, tag, whether of an event file) → what log and event file both tell, and how often alike."""
    found = {}
    for (worker, tag, written), own in series.filter(pl.col("agree").is_not_null()).group_by(
        "worker", "tag", "written_as", maintain_order=True
    ):
        apart = own.filter(~pl.col("agree"))
        told: dict[str, Any] = {"both": own.height, "apart": apart.height}
        told["apart_share"] = apart.height / own.height
        if apart.height:
            first = apart.row(0, named=True)
            told |= {
                "apart_step": first["step"],
                "apart_value": first["value"],
                "apart_printed": first["printed"],
            }
        found[str(worker), str(tag), False] = found[str(worker), str(written), True] = told
    return found


def _ends(finite: pl.DataFrame) -> tuple[float | None, float | None, float | None]:
    if not finite.height:
        return None, None, None
    values = finite["value"]
    return values[0], values[-1], float(values.max())  # type: ignore[arg-type]


def _spread(finite: pl.DataFrame, start: float | None) -> float | None:
    """How far apart the values lie, against the first one."""
    if not start:
        return None
    return float(finite["value"].max() - finite["value"].min()) / abs(start)  # type: ignore[operator, arg-type]


def _ratio(value: float | None, start: float | None) -> float | None:
    if value is None or not start:
        return None
    return abs(value / start)


def _scope(group: pl.DataFrame) -> str:
    scopes = group["scope"].unique().to_list()
    return str(scopes[0]) if len(scopes) == 1 else "unknown"


def _compare(group: Sequence[dict[str, Any]], values: pl.DataFrame) -> None:
    """Count the shared steps at which all workers state the very same value."""
    if len(group) < 2:
        return
    last = values.group_by("worker", "epoch", "step").agg(pl.col("value").last())
    finite = last.filter(pl.col("value").is_finite())
    steps = finite.group_by("epoch", "step").agg(pl.col("worker").n_unique(), pl.col("value").n_unique())
    shared = steps.filter(pl.col("worker") == len(group))
    equal = shared.filter(pl.col("value") == 1).height
    differing = _locally_different(group, equal, shared.height)
    for row in group:
        row.update(common=shared.height, equal=equal, unequal=shared.height - equal)
        if differing and row["scope"] == "unknown":
            row["scope"] = "local"


def _locally_different(group: Sequence[Mapping[str, Any]], equal: int, shared: int) -> bool:
    """In a loop of the user's own, values that differ between workers can only be local ones."""
    return group[0]["origin"] in {"loop", "event_file"} and shared >= 3 and equal * 4 < shared


def _first_nonfinite(group: Sequence[dict[str, Any]]) -> None:
    places = {row["worker"]: _place(row) for row in group if row["nonfinite"]}
    earliest = min(places.values(), default=(math.inf, math.inf))
    first = [worker for worker, place in places.items() if place == earliest]
    for row in group:
        alone = len(group) > 1 and first == [row["worker"]]
        row["nonfinite_first"] = alone and row["scope"] == "local"


def _place(row: Mapping[str, Any]) -> tuple[float, float]:
    return (row.get("nonfinite_epoch") or 0, row.get("nonfinite_step") or 0)
