"""The numbers of training, worker beside worker: where they stop being finite, explode, or are equal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.schema import frame

_MARKS = ("step", "epoch")
_KEY = ("worker", "tag", "origin")


def curves(scalars: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """One row for each worker, tag and origin."""
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
    for (tag, origin), group in by_tag.items():
        _compare(group, values.filter((pl.col("tag") == tag) & (pl.col("origin") == origin)))
        _first_nonfinite(group)
        for row in group:
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
        "nonfinite": bad.height,
    }
    if bad.height:
        place = bad.row(0, named=True)
        row |= {f"nonfinite_{key}": place[key] for key in ("epoch", "step", "line", "source")}
    return row


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
    scopes = set(group["scope"].to_list())
    return scopes.pop() if len(scopes) == 1 else "unknown"


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
