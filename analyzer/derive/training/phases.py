"""Compares the parts of a step that training scripts time themselves, e.g. `read_s` or `host_s`.

Synchronous steps end together, so the others wait for the worker with the longest input or host time.
Device times may include that wait: they tell only where a script times its collectives, too.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.model.schema import VALIDATION
from analyzer.tables.builders import frame

_NAMES: Mapping[str, str] = {
    "input": "read|input|data|fetch|load|loader|next_batch|batch_wait|io",
    "host": "host|prep|preprocess|python|augment|feature|decode",
    "collective": "all_?reduce|sync|comm|communication|collective|barrier|grad_?sync|reduce",
    "device": "device|compute|gpu|train|forward|backward|fwd|bwd|fwd_?bwd",
}
"""Kind of phase → the words that name it; the first match counts."""
_KINDS = {kind: re.compile(rf"(?i)(?:^|[_/. ])(?:{words})(?=[_/. ]|$)") for kind, words in _NAMES.items()}
_DURATION = r"(?i)_(?:seconds?|time|secs?|s|ms)$"


def phases(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and timed part of a step."""
    if scalars.is_empty():
        return frame("phases", ())
    duration = pl.col("tag").str.contains(_DURATION) & ~pl.col("tag").str.contains(VALIDATION)
    timed = scalars.filter(duration).drop_nulls(["worker", "step"])
    typical = (pl.col("value") - pl.col("value").median()).abs().arg_min()
    medians = timed.group_by("worker", "tag", maintain_order=True).agg(
        pl.col("value").median().alias("seconds"),
        pl.len().alias("points"),
        pl.col("source", "line", "time").get(typical),
    )
    rows = [row | {"kind": kind} for row in medians.to_dicts() if (kind := _kind(row["tag"]))]
    times: dict[str, list[float]] = {}
    steps: dict[str, float] = {}
    for row in rows:
        insort(times.setdefault(row["tag"], []), row["seconds"])
        steps[row["worker"]] = steps.get(row["worker"], 0.0) + row["seconds"]
    return frame("phases", (row | _compared(row, times[row["tag"]], steps[row["worker"]]) for row in rows))


def _kind(tag: str) -> str | None:
    return next((kind for kind, words in _KINDS.items() if words.search(tag)), None)


def _compared(row: Mapping[str, Any], times: Sequence[float], step: float) -> dict[str, Any]:
    """Return the columns that compare a worker's phase with the same phase of the others.

    `times` are the sorted seconds of that phase on all workers; `step` is the sum of this worker's phases.
    """
    at, last = bisect_left(times, row["seconds"]), len(times) - 1
    middle = [times[place + (place >= at)] for place in ((last - 1) // 2, last // 2)] if last else []
    usual = sum(middle) / 2 if middle else None
    excess = row["seconds"] - usual if usual is not None else None
    return {
        "share": row["seconds"] / step if step else None,
        "others_seconds": usual,
        "longest": bool(middle) and at == last,
        "excess_share": excess / step if excess is not None and step else None,
        "percent": round(100 * row["seconds"] / step, 1) if step else None,
    }
