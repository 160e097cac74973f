"""Who waits for whom, from profiler traces.

All workers leave a collective together, so the one that enters last spends the least time in it: the
straggler is the worker that waits least. Durations need no common clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from analyzer.schema import frame

_WAITS_FOR_INPUT = (pl.col("kind") == "input") & pl.col("name").str.contains(
    r"^Iterator::Root$|IteratorGetNext"
)


class Stay(NamedTuple):
    """How long a worker was in collectives, of the seconds between its first and its last one."""

    seconds: float
    covered: float

    @property
    def share(self) -> float:
        """The part of the time that it was in them."""
        return min(1.0, self.seconds / self.covered) if self.covered else 0.0


def waits(spans: pl.DataFrame) -> pl.DataFrame:
    """One row for each worker with a trace of collectives."""
    closed = spans.filter(pl.col("worker").is_not_null() & pl.col("end").is_not_null())
    closed = closed.with_columns(seconds=pl.col("end") - pl.col("start"))
    collectives = _shared(closed.filter(pl.col("kind") == "collective"))
    stays = {worker: _stay(group) for (worker,), group in collectives.group_by("worker", maintain_order=True)}
    return frame("waits", (_row(worker, stays, collectives, closed) for worker in stays))


def _stay(own: pl.DataFrame) -> Stay:
    """All of a worker's collectives together; several that run side by side take their time once."""
    seconds, begun, until = 0.0, None, 0.0
    for start, end in own.sort("start").select("start", "end").iter_rows():
        begun = start if begun is None else begun
        seconds += max(0.0, end - max(start, until))
        until = max(until, end)
    return Stay(seconds, until - begun if begun is not None else 0.0)


def _shared(collectives: pl.DataFrame) -> pl.DataFrame:
    """Those that every traced worker has; all of them where the trace carries no keys, as up to 2.8."""
    keyed = collectives.filter(pl.col("instance").is_not_null())
    if not keyed.height:
        return collectives
    present = keyed.group_by("instance").agg(pl.col("worker").n_unique().alias("workers"))
    everywhere = present.filter(pl.col("workers") == keyed["worker"].n_unique())["instance"]
    return keyed.filter(pl.col("instance").is_in(everywhere.to_list()))


def _row(
    worker: object, stays: Mapping[object, Stay], collectives: pl.DataFrame, closed: pl.DataFrame
) -> dict[str, Any]:
    others = [stay.share for other, stay in stays.items() if other != worker]
    own = collectives.filter(pl.col("worker") == worker)
    traced = closed.filter(pl.col("worker") == worker)
    stay, collective = stays[worker], stays[worker].share
    delay = max(0.0, median(others) - collective) if others else None
    awaits_input = _share(traced, traced.filter(_WAITS_FOR_INPUT))
    return {
        "worker": worker,
        "collectives": own.height,
        "step_time": _step_time(own),
        "collective_share": collective,
        "collective_percent": _percent(collective),
        "collective_seconds": stay.seconds,
        "delay_share": delay,
        "delay_percent": _percent(delay),
        "delay_seconds": None if delay is None else delay * stay.covered,
        "least": bool(others) and collective * 2 < min(others),
        "input_share": awaits_input,
        "input_percent": _percent(awaits_input),
    }


def _percent(share: float | None) -> float | None:
    """A share as people say it."""
    return None if share is None else round(100 * share, 1)


def _step_time(collectives: pl.DataFrame) -> float | None:
    """Seconds between successive collectives of one name; under `fit` a step has several names."""
    gaps = collectives.sort("start").with_columns(gap=pl.col("start").diff().over("name"))["gap"].drop_nulls()
    return median(gaps.to_list()) if len(gaps) else None


def _share(traced: pl.DataFrame, part: pl.DataFrame) -> float | None:
    """The share of the traced time that some spans take on one thread; of several threads, the most."""
    start, end = traced["start"].min(), traced["end"].max()
    if start is None or end is None or end == start:
        return None
    spent = part.group_by("thread").agg(pl.col("seconds").sum())["seconds"].max()
    return float(spent or 0.0) / (float(end) - float(start))  # type: ignore[arg-type]
