"""Summarizes the metric curves of each worker and compares them between workers.

Detects non-finite values, divergence, plateaus, jumps, equal values, a restart that does not continue
where it left off, and logs that disagree with their event file.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from analyzer.model.schema import POSITIONS
from analyzer.model.task_names import position
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped
from analyzer.tables.metric_names import LOSS_WORDS

_KEY = ("worker", "tag", "origin")
_PLACE = ("line", "source", "time")
"""Where and when the value was written that shows what is wrong with a curve; evidence cites it."""
_OVERFLOW = 1.8e19
"""Square root of the largest float32: from there on, the squares that Adam and clipping take overflow."""
_FAR = 100
"""Factor over the first value from which on a loss has exploded; those of healthy runs reach 4.4."""
_LOST = 3
"""Minimum number of non-finite values at the end of a curve that is lost."""
_LARGE = 500
"""Least value, and least factor, of an exploded loss: ratios of losses near zero mean nothing."""
_ENOUGH = 20
"""Minimum number of values for computing `fall`."""
_START = 3
"""Number of first values whose median is the start of the curve."""
_SAME_START = 0.1
"""Relative difference up to which the first losses of two runs agree: both come from untrained weights."""
_LAST = 10
"""Number of values before a restart that the first values after the restart are compared with."""

_EVALUATION = re.compile(
    r"(?i)(?:^|[/_.-])(?:val|valid|validation|eval|evaluation|test|dev|best)(?:[/_.-]|$)"
)
"""Regex for tags whose value may be NaN as a placeholder until there is one."""
_NOT_OF_MODEL = re.compile(
    r"(?i)(?:^|[_/])(?:s|sec|secs|seconds?|time|elapsed|eta|imgs?|images|samples|examples|tokens?|kimg)(?:[_/]|$)"
)
"""Regex for tags of durations, rates and counters."""
_QUANTITIES: Mapping[str, re.Pattern[str]] = {
    "training_loss": re.compile(
        rf"(?i)^(?:(?:train|training|local|global|batch|epoch|total|mean|step)[_/ ]?)*(?:loss|{LOSS_WORDS})$"
    ),
    "loss": re.compile(rf"(?i)(?:loss|(?:^|[_/. ])(?:{LOSS_WORDS}))(?:[_/ ]?\d+)?$"),
    "learning_rate": re.compile(r"(?i)(?:^|[/_ ])(?:lr|learning_rate)$"),
    "gradient_norm": re.compile(r"(?i)grad(?:ient)?s?[_/ ]?(?:global[_/ ]?)?norm"),
}
"""Quantity → regex of the tags that name it; the first match counts."""


def curves(scalars: pl.DataFrame, workers: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker, tag and origin; `series` pairs values of logs and of event files."""
    values = _in_order_of_attempts(scalars).with_row_index("row")
    if values.is_empty():
        return frame("curves", ())
    trainers = {*workers.filter("trains")["worker"]}
    rows = [_row(summary, values) for summary in _summaries(values).iter_rows(named=True)]
    losses = [row for row in rows if row["quantity"] in {"training_loss", "loss"}]
    learns = {(row["worker"], row["origin"]) for row in losses if row["first_value"] is not None}
    for row in rows:
        placeholder = (row["worker"], row["origin"]) in learns or _EVALUATION.search(row["tag"])
        row["lost"] &= row["first_value"] is not None or not placeholder
    lost = Counter((row["worker"], row["origin"]) for row in rows if row["lost"])
    kept = {(row["worker"], row["origin"]) for row in rows if not row["lost"] and _measures_model(row)}
    trained = [row for row in losses if row["quantity"] == "training_loss" and not row["nonfinite"]]
    for row in rows:
        row["beside_training"] = bool(row["nonfinite"]) and any(_goes_on(each, row) for each in trained)
    twins = _shared_with_events(series)
    for (tag, origin), group in grouped(((row["tag"], row["origin"]), row) for row in rows).items():
        own = values.filter((pl.col("tag") == tag) & (pl.col("origin") == origin))
        _compare(group, own)
        _first_nonfinite(group, own)
        each_writes = origin == "event_file" and {row["worker"] for row in group} >= trainers
        for row in group:
            row["lost_tags"] = lost[row["worker"], origin]
            row["lost_all"] = row["lost"] and (row["worker"], origin) not in kept
            row |= twins.get((row["worker"], tag, origin == "event_file"), {"both": 0, "apart": 0})
            row["logged"] = row["both"] > 0 and row["apart"] == 0 if origin == "event_file" else None
            row["each_writes"] = each_writes
    return frame("curves", rows)


def _goes_on(loss: Mapping[str, Any], bad: Mapping[str, Any]) -> bool:
    """Return True if a training loss has values below the first bad value of a curve of the same log."""
    same = all(loss[key] == bad[key] for key in ("worker", "origin", "source"))
    return same and None not in {loss["line"], bad["line"]} and loss["line"] > bad["line"]


def _in_order_of_attempts(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return the measured values; those of a worker's later attempts follow those of its earlier ones."""
    values = scalars.filter(pl.col("worker").is_not_null() & ~pl.col("tag").is_in(POSITIONS))
    attempt = pl.col("attempt").fill_null(1)
    falls_back = (attempt.diff() < 0).over("worker").any()
    if values["attempt"].fill_null(1).is_sorted() or not values.select(falls_back).item():
        return values  # a sort would copy what may be hundreds of thousands of values
    return values.sort(attempt, maintain_order=True)


def _measures_model(row: Mapping[str, Any]) -> bool:
    """Return False for settings, durations, rates and counters, which stay finite whatever is trained."""
    return row["quantity"] != "learning_rate" and not _NOT_OF_MODEL.search(row["tag"])


def _summaries(values: pl.DataFrame) -> pl.DataFrame:
    """Return one row per curve with statistics of its values; temporary columns begin with `_`."""
    value, scope, attempt = pl.col("value"), pl.col("scope"), pl.col("attempt")
    finite, bad = value.is_finite(), ~value.is_finite()
    numbers = value.filter(finite)
    far = finite & ((value >= _OVERFLOW) | (value >= _FAR * numbers.first().abs()))
    return values.group_by(_KEY, maintain_order=True).agg(
        pl.col("epoch", "step").first().name.prefix("_"),
        pl.struct(_PLACE).last().alias("_last_place"),
        *_first_of(bad, "_bad_place", nonfinite_epoch="epoch", nonfinite_step="step", _bad_steps="steps"),
        *_first_of(far, "_far_place", exploded_epoch="epoch", exploded_step="step", exploded_steps="steps"),
        *_last_before(bad),
        *_first_after(bad),
        *_biggest_rise(finite & (value > 0)),
        scope=pl.when(scope.n_unique() == 1).then(scope.first()).otherwise(pl.lit("unknown")),
        points=pl.len(),
        nonfinite=bad.sum(),
        lost=(bad.sum() >= _LOST) & (bad.sum() == pl.len() - bad.arg_max()),
        first_value=numbers.first(),
        last_value=numbers.last(),
        max_value=numbers.max(),
        _min_value=numbers.min(),
        _finite=numbers.len(),
        _start=numbers.head(_START).median(),
        _later=numbers.slice(numbers.len() // 2).median(),
        _noise=numbers.diff().abs().median(),
        _attempt=attempt.first(),
        _attempts=attempt.n_unique(),
        _lives=attempt.filter(finite).n_unique(),
    )


def _first_of(rows: pl.Expr, place: str, **columns: str) -> Iterator[pl.Expr]:
    """Yield the place of the first of these rows, and each of `columns` (name → column) there."""
    yield pl.struct(_PLACE).filter(rows).first().alias(place)
    for name, column in columns.items():
        yield pl.col(column).filter(rows).first().alias(name)


def _last_before(bad: pl.Expr) -> Iterator[pl.Expr]:
    """Yield position and value of the last finite value before the first of the bad ones."""
    earlier = ~bad & (pl.col("row") < pl.col("row").filter(bad).first())
    for column in ("epoch", "step", "value"):
        yield pl.col(column).filter(earlier).last().alias(f"finite_{column}")


def _first_after(bad: pl.Expr) -> Iterator[pl.Expr]:
    """Yield position of the first finite value after the last bad one, in the same attempt and run."""
    last = pl.col("row").filter(bad).last()
    same = pl.col("attempt").fill_null(1) == pl.col("attempt").fill_null(1).filter(bad).last()
    anew = pl.col("row").filter((pl.col("row") > last) & _begins_anew()).first()
    later = ~bad & (pl.col("row") > last) & same & (pl.col("row") < anew.fill_null(pl.col("row").max() + 1))
    yield later.any().alias("recovered")
    for column in ("epoch", "step"):
        yield pl.col(column).filter(later).first().alias(f"again_{column}")


def _begins_anew() -> pl.Expr:
    """Return True for values near a curve's first one and at its place: those of the next run in a log."""
    value, start = pl.col("value"), pl.col("value").filter(pl.col("value").is_finite()).first()
    back = [pl.col(name).fill_null(0) <= pl.col(name).first().fill_null(0) for name in ("epoch", "step")]
    placed = pl.col("epoch").is_not_null() | pl.col("step").is_not_null()
    return placed & pl.all_horizontal(back) & ((value - start).abs() <= _SAME_START * start.abs())


def _biggest_rise(positive: pl.Expr) -> Iterator[pl.Expr]:
    """Yield the greatest ratio of a positive value to the one before it, both values, step and place."""
    columns = (pl.col("value"), pl.col("step"), pl.struct(_PLACE))
    value, step, place = (column.filter(positive) for column in columns)
    rises = value / value.shift()
    named = {"jump_from": value.shift(), "jump_to": value, "jump_step": step, "_jump_place": place}
    yield rises.max().alias("jump")
    for name, column in named.items():
        yield column.get(rises.arg_max(), null_on_oob=True).alias(name)


def _row(summary: Mapping[str, Any], values: pl.DataFrame) -> dict[str, Any]:
    """Return one curve's row, without the columns that compare workers."""
    start = summary["first_value"]
    row = {
        **{name: cell for name, cell in summary.items() if not name.startswith("_")},
        "quantity": next((name for name, words in _QUANTITIES.items() if words.search(summary["tag"])), None),
        "growth": _ratio(summary["max_value"], start),
        "last_growth": _ratio(summary["last_value"], start),
        "spread": (summary["max_value"] - summary["_min_value"]) / abs(start) if start else None,
        "fall": _decrease(summary),
        "from_start": _starts_at_first_step(summary),
    }
    row["exploded"] = _has_exploded(row)
    if not row["exploded"]:
        row |= dict.fromkeys(("exploded_epoch", "exploded_step", "exploded_steps"))
    shown = "_jump_place" if row["quantity"] == "learning_rate" else "_last_place"
    row |= summary["_far_place" if row["exploded"] else shown] or {}
    if summary["_lives"] > 1:
        own = [pl.col(key) == summary[key] for key in _KEY]
        row |= _resumed(values.filter(*own, pl.col("value").is_finite()))
    for name in ("nonfinite", "finite", "again"):
        at = row[f"{name}_epoch"], row[f"{name}_step"]
        row[f"{name}_place"] = None if at == (None, None) else position(*at)
    is_mean = summary["origin"] == "fit" and summary["_bad_steps"] == row["nonfinite_step"]
    if is_mean and row["nonfinite_epoch"]:
        row["nonfinite_place"] = position(row["nonfinite_epoch"], None)
    return row | (summary["_bad_place"] or {})


def _has_exploded(row: Mapping[str, Any]) -> bool:
    """Return True if a curve reaches values that overflow, or grew by orders of magnitude and stays there."""
    largest = row["max_value"] or 0.0
    grew = (row["growth"] or 0.0) >= _LARGE and (row["last_growth"] or 0.0) >= _FAR
    return largest >= _OVERFLOW or (grew and row["points"] >= 3 and largest >= _LARGE)


def _decrease(summary: Mapping[str, Any]) -> float | None:
    """Return by how much values fell from the start to the later half, as a multiple of their variation."""
    if summary["_finite"] < _ENOUGH:
        return None
    distance: float = summary["_start"] - summary["_later"]
    if not summary["_noise"]:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / float(summary["_noise"])


def _starts_at_first_step(summary: Mapping[str, Any]) -> bool:
    """Return True if the curve begins at the first step of the first attempt."""
    alone = summary["_attempts"] == 1 and (summary["_attempt"] or 1) == 1
    return alone and (summary["_epoch"] or 1) <= 1 and summary["_step"] is not None and summary["_step"] <= 1


def _resumed(finite: pl.DataFrame) -> dict[str, Any]:
    """Return the worst rise from the end of one attempt to the start of the next; empty for one attempt."""
    attempts = [life for _, life in finite.group_by("attempt", maintain_order=True)]
    start = finite["value"][: min(_START, attempts[0].height)].median() if attempts else None
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
        "resumed_growth": _ratio(first["value"], held["value"]),
        **{key: first[key] for key in _PLACE},
        "anew": _order(first) <= _order(before.row(0, named=True)) and before.height > 1,
        **_regression(before.filter(_is_before(*_order(first))), after, start),
    }


def _is_before(at_epoch: int, at_step: int) -> pl.Expr:
    """Return an expression that selects the values logged before a position."""
    epoch, step = pl.col("epoch").fill_null(0), pl.col("step").fill_null(0)
    return (epoch < at_epoch) | ((epoch == at_epoch) & (step < at_step))


def _regression(before: pl.DataFrame, after: pl.DataFrame, start: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return how far the first values after a restart exceed the last before it; None for too few values."""
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


def _shared_with_events(series: pl.DataFrame) -> dict[tuple[str, str, bool], dict[str, Any]]:
    """Return (worker, tag, is event file) → how many values log and event file share and agree on."""
    found = {}
    shared = series.drop_nulls("agree").partition_by("worker", "tag", "written_as", as_dict=True)
    for (worker, tag, written), own in shared.items():
        apart = own.filter(~pl.col("agree"))
        summary: dict[str, Any] = {"both": own.height, "apart": apart.height}
        summary["apart_share"] = apart.height / own.height
        if apart.height:
            first = apart.row(0, named=True)
            summary |= {f"apart_{name}": first[name] for name in ("step", "value", "printed")}
        found[str(worker), str(tag), False] = found[str(worker), str(written), True] = summary
    return found


def _ratio(value: float | None, start: float | None) -> float | None:
    if value is None or not start:
        return None
    return abs(value / start)


def _compare(group: Sequence[dict[str, Any]], values: pl.DataFrame) -> None:
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


def _first_nonfinite(group: Sequence[dict[str, Any]], values: pl.DataFrame) -> None:
    """Mark, in place, the only local curve that was the first with a value that is not finite.

    No curve is marked if another one ends before that value, as in a log that was cut.
    """
    bad = [row for row in group if row["nonfinite"]]
    places = [(row.get("nonfinite_epoch") or 0, row.get("nonfinite_step") or 0) for row in bad]
    earliest = min(places, default=None)
    first = [row["worker"] for row, place in zip(bad, places, strict=True) if place == earliest]
    arrived = {*values.filter(~_is_before(*earliest))["worker"]} if earliest else set()
    compared = arrived >= {row["worker"] for row in group}
    for row in group:
        alone = len(group) > 1 and first == [row["worker"]] and compared
        row["nonfinite_first"] = alone and row["scope"] == "local"
