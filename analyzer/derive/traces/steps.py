"""Splits the time of each traced step into non-overlapping kinds.

Work takes precedence over waiting, in this order: compile, compute, copy to device, collective, input.
The rest is idle.
"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import polars as pl

from analyzer.tables.builders import frame
from analyzer.tables.intervals import Interval, difference, seconds_within, union

SPENT = ("compile", "compute", "copy", "collective", "input")
"""Kinds of work in order of precedence: where several overlap in time, the first counts."""
_PREFETCH = r"^tf_data_(?:multi_device_)?iterator_resource"
"""Regex of threads that prefetch input, for which no step waits."""


def steps(spans: pl.DataFrame) -> pl.DataFrame:
    """Return one row per complete step of each trace; without numbered steps, per training function call."""
    if spans.is_empty():
        return frame("steps", ())
    known = spans.filter(pl.col("worker").is_not_null() & pl.col("end").is_not_null())
    traces = known.group_by("worker", "source", maintain_order=True)
    return frame("steps", (row for (worker, source), own in traces for row in _steps(worker, source, own)))


def waits_for_input() -> pl.Expr:
    """Return an expression for spans in which training waits for its next batch."""
    return (pl.col("kind") == "input") & ~pl.col("thread").str.contains(_PREFETCH)


def covered(spans: pl.DataFrame) -> float:
    """Return the seconds covered by the spans, counting overlaps once."""
    return sum(end - start for start, end in union(_intervals(spans)))


def _steps(worker: object, source: object, own: pl.DataFrame) -> Iterator[dict[str, Any]]:
    by_kind = {str(kind): spans for (kind,), spans in own.partition_by("kind", as_dict=True).items()}
    bounds = list(_bounds(by_kind))
    spent = _disjoint(by_kind) if bounds else {}
    for nth, (step, start, end) in enumerate(bounds, 1):
        seconds = {kind: seconds_within(intervals, start, end) for kind, intervals in spent.items()}
        idle = max(0.0, end - start - sum(seconds.values()))
        place = {"worker": worker, "source": source, "nth": nth, "step": step, "start": start}
        yield {**place, "seconds": end - start, **seconds, "idle": idle}


def _bounds(by_kind: Mapping[str, pl.DataFrame]) -> Iterator[tuple[int | None, float, float]]:
    """Yield (number, start, end) of each step; a function call's step starts where the last one ended."""
    numbered = by_kind["step"].filter(pl.col("step").is_not_null()) if "step" in by_kind else None
    if numbered is not None and numbered.height:
        until = float("-inf")
        for step, start, end in numbered.sort("start").select("step", "start", "end").iter_rows():
            if start >= until:
                yield step, start, end
                until = end
    elif "function" in by_kind:
        before: float | None = None
        for start, end in sorted(_intervals(_longest(by_kind["function"])), key=itemgetter(0)):
            if before is None or start >= before:
                yield None, start if before is None else before, end
                before = end


def _longest(calls: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of the function with the largest total time."""
    seconds = calls.group_by("name").agg((pl.col("end") - pl.col("start")).sum()).sort("end", "name")
    return calls.filter(pl.col("name") == seconds["name"][-1])


def _disjoint(by_kind: Mapping[str, pl.DataFrame]) -> dict[str, list[Interval]]:
    """Return kind → its intervals, minus those of the kinds with higher precedence."""
    taken: list[Interval] = []
    spent = {}
    for kind in SPENT:
        own = by_kind.get(kind)
        waited = waits_for_input() if kind == "input" else True
        intervals = [] if own is None else union(_intervals(own.filter(waited)))
        spent[kind] = difference(intervals, taken)
        taken = union([*taken, *intervals])
    return spent


def _intervals(spans: pl.DataFrame) -> list[Interval]:
    return list(zip(spans["start"].to_list(), spans["end"].to_list(), strict=True))


def shares(rows: pl.DataFrame) -> dict[str, float | None]:
    """Return kind → share of step time, including `idle`; None without complete steps."""
    seconds = float(rows["seconds"].sum())
    return {kind: float(rows[kind].sum()) / seconds if seconds else None for kind in (*SPENT, "idle")}
