"""Describes each curve by one row: what its values do, and how they compare with those of other workers.

Detects non-finite values, divergence, plateaus, jumps, equal values, a restart that does not continue
where it left off, and logs that disagree with their event file.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from analyzer.derive.curves.between_workers import compare, first_nonfinite
from analyzer.derive.curves.restarts import resumed
from analyzer.derive.curves.series import agreement
from analyzer.derive.curves.summaries import FAR, KEY, OVERFLOW, START, ratio, summaries
from analyzer.model.schema import POSITIONS
from analyzer.model.task_names import position
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped
from analyzer.tables.metric_names import LOSS_WORDS, PART_OF_LOSS

_LARGE = 500
"""Least value, and least factor, of an exploded loss: ratios of losses near zero mean nothing."""
_ENOUGH = 20
"""Minimum number of values for computing `fall`."""

_EVALUATION = re.compile(
    r"(?i)(?:^|[/_.-])(?:val|valid|validation|eval|evaluation|test|dev|best)(?:[/_.-]|$)"
)
"""Regex for tags whose value may be NaN as a placeholder until there is one."""
_NOT_OF_MODEL = re.compile(
    r"(?i)(?:^|[_/])(?:s|sec|secs|seconds?|time|elapsed|eta|imgs?|images|samples|examples|tokens?|kimg)(?:[_/]|$)"
)
"""Regex for tags of durations, rates and counters."""
_ERRORS = re.compile(
    r"(?i)(?:^|[_/. ])"
    r"(?:bce|cer|err(?:or)?|mae|mape|mse|nll|perplexity|ppl|recon(?:struction)?|rmse|wer|xent)$"
)
"""Regex for tags of what is to fall besides losses."""
_SCORES = re.compile(
    r"(?i)(?:^|[_/. ])(?:\w*acc(?:uracy)?|auc|bleu|dice|f1|(?:mean_)?iou|map|psnr|r2"
    r"|(?:avg_|mean_|episode_)?(?:return|reward|score))$"
)
"""Regex for tags of what is to rise."""
_BETTER = 0.05
"""Least improvement, relative to the start, that shows that a model learned: noise of means is less."""
_QUANTITIES: Mapping[str, re.Pattern[str]] = {
    "training_loss": re.compile(
        r"(?i)^(?:(?:train|training|local|global|batch|epoch|total|mean|step)[_/ ]?)*"
        rf"(?:loss|cost|xent|cross_?entropy|{LOSS_WORDS})$|^train(?:ing)?[_/ ](?:bce|ce|mae|mse|nll|rmse)$"
    ),
    "loss": re.compile(rf"(?i)(?:loss|(?:^|[_/. ])(?:{LOSS_WORDS}))(?:[_/ ]?\d+|{PART_OF_LOSS}(?:_[ab])?)?$"),
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
    rows = [_row(summary, values) for summary in summaries(values).iter_rows(named=True)]
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
    twins = agreement(series)
    for (tag, origin), group in grouped(((row["tag"], row["origin"]), row) for row in rows).items():
        own = values.filter((pl.col("tag") == tag) & (pl.col("origin") == origin))
        compare(group, own)
        first_nonfinite(group, own)
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


def _row(summary: Mapping[str, Any], values: pl.DataFrame) -> dict[str, Any]:
    """Return one curve's row, without the columns that compare workers."""
    start = summary["first_value"]
    row = {
        **{name: cell for name, cell in summary.items() if not name.startswith("_")},
        "quantity": next((name for name, words in _QUANTITIES.items() if words.search(summary["tag"])), None),
        "growth": ratio(summary["max_value"], start),
        "last_growth": ratio(summary["last_value"], start),
        "lowest": ratio(summary["_min_value"], start),
        "spread": (summary["max_value"] - summary["_min_value"]) / abs(start) if start else None,
        "fall": _decrease(summary),
        "still_share": summary["still"] / summary["points"],
        "from_start": _starts_at_first_step(summary),
    }
    row["improved"] = _has_improved(summary, row["quantity"])
    row["exploded"] = _has_exploded(row)
    if not row["exploded"]:
        row |= dict.fromkeys(("exploded_epoch", "exploded_step", "exploded_steps"))
    shown = "_jump_place" if row["quantity"] == "learning_rate" else "_last_place"
    row |= summary["_far_place" if row["exploded"] else shown] or {}
    if summary["_lives"] > 1:
        own = [pl.col(key) == summary[key] for key in KEY]
        row |= resumed(values.filter(*own, pl.col("value").is_finite()))
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
    grew = (row["growth"] or 0.0) >= _LARGE and (row["last_growth"] or 0.0) >= FAR
    return largest >= OVERFLOW or (grew and row["points"] >= 3 and largest >= _LARGE)


def _has_improved(summary: Mapping[str, Any], quantity: str | None) -> bool:
    """Return True if a loss or error is clearly lower in the later half than at first, or a score higher."""
    falls = quantity in {"training_loss", "loss"} or _ERRORS.search(summary["tag"])
    if summary["_finite"] < 2 or summary["nonfinite"] or not (falls or _SCORES.search(summary["tag"])):
        return False
    few = summary["_finite"] < 2 * START
    start, later = (
        summary[name] for name in (("first_value", "last_value") if few else ("_start", "_later"))
    )
    gained: float = start - later if falls else later - start
    return gained > 0 and gained >= _BETTER * abs(start)


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
