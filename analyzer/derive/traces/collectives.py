"""Matches each collective across the traced workers and finds which worker entered it last.

All workers leave a collective together, so the last one to enter spends the least time in it.
On GPUs this holds for the kernels of NCCL, which wait on the device: the host only starts them.
Durations need no common clock; clocks are used only to match calls of the same name when the trace
numbers neither steps nor collectives.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped

_OWN_THREADS = r"^collective_ops"
_DEVICE_THREADS, _NCCL_KERNELS = r"^Stream", r"^nccl\w*Kernel"
_SHIFTS = (0, -1, 1, -2, 2, -3, 3)
"""Call-number offsets tried when aligning two traces, smallest first."""

Row = dict[str, Any]


def collectives(spans: pl.DataFrame) -> pl.DataFrame:
    """Return one row per collective and traced worker, ordered by worker and start."""
    if spans.is_empty():
        return frame("collectives", ())
    found = spans.filter((pl.col("kind") == "collective") & pl.col("worker").is_not_null())
    on_device = pl.col("thread").str.contains(_DEVICE_THREADS) & pl.col("name").str.contains(_NCCL_KERNELS)
    kernels = found.filter(on_device)
    if kernels.height:
        found = _numbered_kernels(found.filter(~on_device), kernels)
    by_worker = found.group_by("worker", maintain_order=True)
    rows = {str(worker): _number_calls(_without_launches(own)) for (worker,), own in by_worker}
    _align(rows)
    ended = (row for own in rows.values() for row in own if row["end"] is not None)
    for group in grouped(((*_label(row), row["nth"]), row) for row in ended).values():
        _compare(group, len(rows))
    return frame("collectives", (_table_row(row) for own in rows.values() for row in own))


def _numbered_kernels(on_host: pl.DataFrame, kernels: pl.DataFrame) -> pl.DataFrame:
    """Return NCCL's kernels with the instance keys of their operations, and operations that never ended.

    Kernels run in the order of the operations that start them; if their counts differ, none gets a key. Other
    operations are left out: the time in them says nothing.
    """
    open_calls = on_host.filter(pl.col("end").is_null())
    started = on_host.filter(pl.col("instance").is_not_null()).sort("worker", "start")
    ordered = kernels.sort("worker", "start")
    started = started.filter(pl.col("worker").is_in(ordered["worker"].unique().to_list()))
    if started["worker"].equals(ordered["worker"]):
        ordered = ordered.with_columns(started["instance"], started["name"])
    return pl.concat([open_calls, ordered])


def _without_launches(own: pl.DataFrame) -> Iterator[Row]:
    """Return a worker's collectives without their launch events, which TensorFlow up to 2.8 also traces."""
    keyed = own.filter(pl.col("instance").is_not_null() | pl.col("end").is_null())
    if keyed["instance"].count():
        return keyed.sort("start").iter_rows(named=True)
    ran = own.filter(pl.col("thread").str.contains(_OWN_THREADS))
    elsewhere = own.filter(~pl.col("name").is_in(ran["name"].unique().to_list()))
    return pl.concat([ran, elsewhere]).sort("start").iter_rows(named=True)


def _number_calls(own: Iterator[Row]) -> list[Row]:
    """Return the calls numbered from 1 per label; overlapping calls (of the worker's replicas) become one."""
    calls: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    rows = []
    for row in own:
        before = calls[_label(row)]
        if before and before[-1]["end"] is not None and row["start"] < before[-1]["end"]:
            before[-1] |= {"start": row["start"], "end": row["end"]}
            continue
        before.append({**row, "nth": len(before) + 1})
        rows.append(before[-1])
    return rows


def _label(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what identifies a collective on all workers: its instance key, else (name, step)."""
    return (row["name"], row["step"]) if row["instance"] is None else (row["instance"],)


def _align(rows: Mapping[str, list[Row]]) -> None:
    """Shift call numbers in place so that equal numbers overlap in time; only for calls from `_by_order`."""
    ordered = [_by_order(own) for own in rows.values()]
    first = next((calls for calls in ordered if calls), {})
    for calls in ordered:
        for name in calls.keys() & first.keys():
            one, other = first[name], calls[name]
            if all(row["absolute"] for row in (*one, *other)):
                shift = max(_SHIFTS, key=lambda shift: _overlap(one, other, shift))
                for row in other:
                    row["nth"] += shift


def _by_order(own: Sequence[Row]) -> dict[str, list[Row]]:
    """Return name → calls that have neither an instance key nor a step."""
    unnumbered = (row for row in own if row["instance"] is None and row["step"] is None)
    return grouped((row["name"], row) for row in unnumbered if row["end"] is not None)


def _overlap(one: Sequence[Row], other: Sequence[Row], shift: int) -> float:
    """Return the seconds in which both workers are in the same call, with `other` renumbered by `shift`."""
    known = {row["nth"]: row for row in one}
    both = ((row, known.get(row["nth"] + shift)) for row in other)
    seconds = (min(a["end"], b["end"]) - max(a["start"], b["start"]) for a, b in both if b)
    return float(sum(max(0.0, one) for one in seconds))


def _compare(group: Sequence[Row], traced: int) -> None:
    """Mark in place the worker that entered last, and the seconds that the second-to-last waited for it."""
    for row in group:
        row |= {"workers": len(group), "shared": len(group) == traced, "last": False, "caused": 0.0}
    if len(group) > 1:
        last, before = sorted(group, key=_seconds)[:2]
        last |= {"last": True, "caused": _seconds(before) - _seconds(last)}


def _seconds(row: Mapping[str, Any]) -> float:
    return float(row["end"]) - float(row["start"])


def _table_row(row: Row) -> Row:
    same = ("worker", "source", "name", "instance", "step", "nth", "start", "end", "last")
    return {name: row.get(name) for name in same} | {
        "seconds": None if row["end"] is None else _seconds(row),
        "workers": row.get("workers", 1),
        "shared": row.get("shared", False),
        "caused_seconds": row.get("caused"),
    }
