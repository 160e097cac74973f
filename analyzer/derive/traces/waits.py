"""Derives from profiler traces which worker the others wait for.

All workers leave a collective together, so the straggler is the worker that waits least. Durations need no
common clock.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.traces.steps import covered, shares, waits_for_input
from analyzer.derive.training.progress import last_times
from analyzer.model.run import Tables
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock


class CollectiveTime(NamedTuple):
    """Seconds spent in collectives, and seconds from the first collective's start to the last one's end."""

    seconds: float
    covered: float

    @property
    def share(self) -> float:
        """Return `seconds` as a share of `covered`, at most 1; 0 if nothing is covered."""
        return min(1.0, self.seconds / self.covered) if self.covered else 0.0


_AROUND = 60.0
"""Seconds by which the start of a trace may lie outside its worker's log."""


def waits(
    read: Tables, collectives: pl.DataFrame, steps: pl.DataFrame, paces: pl.DataFrame, common: CommonClock
) -> pl.DataFrame:
    """Return one row per traced worker: its time in collectives and its step time by kind of work."""
    spans = read["spans"].filter(pl.col("worker").is_not_null())
    if spans.is_empty():
        return frame("waits", [])
    dated = dict(paces.select("worker", "step_time").iter_rows())
    shared = _by_worker(collectives.filter("shared"))
    unended = _by_worker(collectives.filter(pl.col("end").is_null()))
    stepped = _by_worker(steps)
    stays = {worker: _collective_time(group) for worker, group in shared.items()}
    progress = last_times(read["scalars"])
    rows = []
    for worker, traced in _by_worker(spans).items():
        own = {
            "spans": traced,
            "shared": shared.get(worker, collectives.clear()),
            "open": unended.get(worker, collectives.clear()),
            "steps": stepped.get(worker, steps.clear()),
        }
        begun, ended = _traced_time(read["sources"], worker)
        made = [time for (who, _), time in progress.items() if who == worker and time is not None]
        last = _on_its_clock(read["sources"], worker, begun, max(made, default=None), common)
        in_steps = _in_steps(own["steps"], own["spans"])
        rows.append(
            {"worker": worker, "source": traced["source"][0]}
            | {"traced": _coverage(own["steps"], own["shared"])}
            | _in_collectives(worker, stays, own["shared"])
            | _left_open(own["open"], own["spans"], ended, in_steps["step_time"])
            | in_steps
            | {"outside_factor": _ratio(dated.get(worker), in_steps["step_time"])}
            | {"covers_end": None if ended is None or last is None else ended >= last}
        )
    return frame("waits", rows)


def _by_worker(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return worker → its rows, in order of first appearance."""
    return {str(worker): own for (worker,), own in rows.partition_by("worker", as_dict=True).items()}


def _coverage(steps: pl.DataFrame, shared: pl.DataFrame) -> str:
    """Return what a trace covers in words: `steps 12–20`, `9 steps` or `24 collectives`."""
    numbers = steps["step"].drop_nulls().sort().to_list()
    if len(numbers) > 1:
        return f"steps {numbers[0]}–{numbers[-1]}"
    return f"{steps.height} steps" if steps.height else f"{shared.height} collectives"


def _ratio(seconds: float | None, traced: float | None) -> float | None:
    return seconds / traced if seconds is not None and traced else None


def _collective_time(own: pl.DataFrame) -> CollectiveTime:
    """Return the total time of a worker's collectives, counting overlaps once."""
    start, end = own["start"].min(), own["end"].max()
    return CollectiveTime(covered(own), float(end) - float(start))  # type: ignore[arg-type]


def _in_collectives(worker: str, stays: Mapping[str, CollectiveTime], own: pl.DataFrame) -> dict[str, Any]:
    if worker not in stays:
        return {"collectives": 0, "fastest_exit": False}
    others = [stay.share for other, stay in stays.items() if other != worker]
    stay, collective = stays[worker], stays[worker].share
    delay = max(0.0, median(others) - collective) if others else None
    last = own.filter("last")
    return {
        "collectives": own.height,
        "collective_share": collective,
        "collective_percent": _percent(collective),
        "collective_seconds": stay.seconds,
        "straggler_wait_share": delay,
        "straggler_wait_percent": _percent(delay),
        "straggler_wait_seconds": None if delay is None else delay * stay.covered,
        "fastest_exit": bool(others) and collective * 2 < min(others),
        "last": last.height if others else None,
        "last_percent": _percent(last.height / own.height) if others else None,
        "caused_seconds": float(last["caused_seconds"].sum()) if others else None,
    }


def _left_open(
    own: pl.DataFrame, spans: pl.DataFrame, ended: float | None, step_time: float | None
) -> dict[str, Any]:
    """Return the number of collectives without an end, and how long the first of them stayed open."""
    begun = own["start"].min()
    ends = [*spans["end"].drop_nulls().to_list(), *spans["start"].to_list()]
    if ended is not None and spans["absolute"].all():
        ends.append(ended)
    seconds = None if begun is None else max(ends) - float(begun)  # type: ignore[arg-type]
    steps = seconds / step_time if seconds is not None and step_time else None
    return {"open": own.height, "open_seconds": seconds, "open_steps": steps}


def _in_steps(steps: pl.DataFrame, spans: pl.DataFrame) -> dict[str, Any]:
    spent = shares(steps)
    if spent["input"] is None:
        spent["input"] = _input_share(spans)
    collective = spent.pop("collective")
    found: dict[str, Any] = {
        "steps": steps.height,
        "step_time": _step_time(steps, spans),
        "exposed_share": collective,
        "exposed_percent": _percent(collective),
    }
    for kind, part in spent.items():
        found |= {f"{kind}_share": part, f"{kind}_percent": _percent(part)}
    return found


def _percent(share: float | None) -> float | None:
    """Convert a share to percent, rounded to one decimal."""
    return None if share is None else round(100 * share, 1)


def _step_time(steps: pl.DataFrame, spans: pl.DataFrame) -> float | None:
    """Return the median seconds per step, else the median gap between collectives of the same name."""
    if steps.height:
        return float(median(steps["seconds"].to_list()))
    collectives = spans.filter((pl.col("kind") == "collective") & pl.col("end").is_not_null())
    gaps = collectives.sort("start").with_columns(gap=pl.col("start").diff().over("name"))["gap"].drop_nulls()
    return float(median(gaps.to_list())) if len(gaps) else None


def _input_share(spans: pl.DataFrame) -> float | None:
    """Return the share of traced time spent waiting for input, for traces without steps."""
    closed = spans.filter(pl.col("end").is_not_null())
    start, end = closed["start"].min(), closed["end"].max()
    if start is None or end is None or end == start:
        return None
    traced = float(end) - float(start)  # type: ignore[arg-type]
    return covered(closed.filter(waits_for_input())) / traced


def _traced_time(sources: pl.DataFrame, worker: object) -> tuple[float | None, float | None]:
    """Return start and end of a worker's trace in absolute time; None if the trace has no date."""
    own = sources.filter((pl.col("worker") == worker) & (pl.col("kind") == "trace"))
    return own["first_time"].min(), own["last_time"].max()  # type: ignore[return-value]


def _on_its_clock(
    sources: pl.DataFrame, worker: str, begun: float | None, progress: float | None, common: CommonClock
) -> float | None:
    """Convert a worker's last progress to its trace's clock: the log may use another time zone."""
    beside = sources.filter((pl.col("worker") == worker) & (pl.col("kind") != "trace"))
    begin, end = beside["first_time"].min(), beside["last_time"].max()
    aligned = common.of_kind(worker, "log", progress)
    if None in (begin, end, begun, progress, aligned):
        return progress
    shift = progress - aligned  # type: ignore[operator]
    within = [begin - _AROUND <= begun + by <= end + _AROUND for by in (0.0, shift)]  # type: ignore[operator]
    return aligned if within == [False, True] else progress
