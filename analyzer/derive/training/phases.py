"""Compares the parts of a step that training scripts time themselves, e.g. `read_s` or `host_s`.

Synchronous steps end together, so the others wait for the worker with the longest input or host time.
Device times may include that wait: they tell only where a script times its collectives, too.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.model.schema import VALIDATION
from analyzer.tables.builders import frame

_NAMES: Mapping[str, str] = {
    "input": "read|input|data|fetch|load|loader|next_batch|batch_wait|io",
    "host": "host|prep|preprocess|python|augment|feature|decode",
    "collective": "all_?reduce|sync|comm|communication|collective|barrier|grad_?sync|reduce",
    "device": "device|compute|gpu|train|forward|backward|fwd|bwd|fwd_?bwd",
    "wait": "wait|waiting|waited|idle|blocked|stalled",
}
"""Kind of phase → the words that name it; the first match counts."""
_KINDS = {kind: re.compile(rf"(?i)(?:^|[_/. ])(?:{words})(?=[_/. ]|$)") for kind, words in _NAMES.items()}
_WHOLE = (
    r"(?i)(?:^|[_/. ])(?:step|iter|iteration|batch)(?:[_/. ](?:total|duration))?"
    r"[_/. ](?:seconds?|time|secs?|s|ms)$"
)
"""Regex for a tag that names the time of a whole step: `step_time`, `batch_total_ms`."""
_SUM_FACTOR = 2.0
"""Parts that take longer together than so many steps are those of several steps."""
_DURATION = r"(?i)_(?:seconds?|time|secs?|s|ms)$"


def phases(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and timed part of a step, or of an epoch where only epochs are timed."""
    if scalars.is_empty():
        return frame("phases", ())
    duration = pl.col("tag").str.contains(_DURATION) & ~pl.col("tag").str.contains(VALIDATION)
    timed = scalars.filter(duration & (pl.col("step").is_not_null() | pl.col("epoch").is_not_null()))
    timed = timed.drop_nulls("worker").filter(_is_of_steps() | ~_is_of_steps().any().over("worker"))
    typical = (pl.col("value") - pl.col("value").median()).abs().arg_min()
    medians = timed.group_by("worker", "tag", maintain_order=True).agg(
        pl.col("value").median().alias("seconds"),
        pl.len().alias("points"),
        pl.when(_is_of_steps().any()).then(pl.lit("step")).otherwise(pl.lit("epoch")).alias("per"),
        pl.col("source", "line", "time").get(typical),
    )
    found = [row | {"kind": kind} for row in medians.to_dicts() if (kind := _kind(row["tag"]))]
    rows = list(_of_one_step(found, timed))
    times: dict[str, list[float]] = {}
    for row in rows:
        insort(times.setdefault(row["tag"], []), row["seconds"])
    steps = _step_seconds(rows, medians, timed)
    compared = (row | _compared(row, times[row["tag"]], steps.get(row["worker"])) for row in rows)
    return frame("phases", compared)


def _is_of_steps() -> pl.Expr:
    return pl.col("step").is_not_null()


def _step_seconds(
    rows: Sequence[Mapping[str, Any]], medians: pl.DataFrame, timed: pl.DataFrame
) -> Mapping[str, float]:
    """Return worker → seconds of a step: the longest of its parts' sum, its stated time and the logs' times.

    The sum counts only if it has the time of the computation, which may be most of the step.
    """
    parts: dict[str, float] = {}
    for row in rows:
        parts[row["worker"]] = parts.get(row["worker"], 0.0) + row["seconds"]
    complete = {row["worker"] for row in rows if row["kind"] in {"device", "collective"}}
    whole = medians.filter(pl.col("tag").str.contains(_WHOLE))
    stated = [
        *((worker, seconds) for worker, seconds in parts.items() if worker in complete),
        *whole.select("worker", "seconds").iter_rows(),
        *_by_the_clock(timed).iter_rows(),
    ]
    found: dict[str, float] = {}
    for worker, seconds in stated:
        found[worker] = max(seconds, found.get(worker, 0.0), parts.get(worker, 0.0))
    return found


def _of_one_step(rows: Sequence[dict[str, Any]], timed: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows with the seconds of one step, where lines sum up all steps since the line before.

    They do if the parts of a step take much longer than a step does by the clock.
    """
    parts: dict[str, float] = {}
    for row in rows:
        parts[row["worker"]] = parts.get(row["worker"], 0.0) + row["seconds"]
    clock = dict(_by_the_clock(timed).iter_rows())
    between = pl.col("step").diff().over("worker", "tag").alias("steps_between")
    apart = dict(timed.select("worker", between).group_by("worker").median().iter_rows())
    for row in rows:
        steps, step = apart.get(row["worker"]) or 0, clock.get(row["worker"])
        is_sum = step is not None and steps > 1 and parts[row["worker"]] > _SUM_FACTOR * step
        yield row | {"seconds": row["seconds"] / steps} if is_sum else row


def _by_the_clock(timed: pl.DataFrame) -> pl.DataFrame:
    """Return worker and median seconds from one step, or epoch, to the next, by the times of their lines."""
    between = (pl.col("time").diff() / pl.coalesce("step", "epoch").diff()).over("worker", "tag")
    paces = timed.drop_nulls("time").select("worker", seconds=between)
    paces = paces.filter(pl.col("seconds").is_finite() & (pl.col("seconds") > 0))
    return paces.group_by("worker", maintain_order=True).agg(pl.col("seconds").median())


def _kind(tag: str) -> str | None:
    return next((kind for kind, words in _KINDS.items() if words.search(tag)), None)


def _compared(row: Mapping[str, Any], times: Sequence[float], step: float | None) -> dict[str, Any]:
    """Return the columns that compare the duration of a worker's phase with that of the other workers.

    `times` are the durations (s) of the phase on all workers, sorted; `step` is this worker's step time (s).
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
