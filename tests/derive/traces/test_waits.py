"""Who waits for whom, from traces."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.traces.collectives import collectives
from analyzer.derive.traces.steps import steps
from analyzer.derive.traces.waits import waits
from analyzer.derive.training.step_rate import paces
from analyzer.model.run import Tables
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock


def found(
    spans: pl.DataFrame, sources: pl.DataFrame | None = None, scalars: pl.DataFrame | None = None
) -> list[dict[str, object]]:
    """The rows of `waits` for these spans."""
    read: Tables = {
        "spans": spans,
        "sources": frame("sources", []) if sources is None else sources,
        "scalars": frame("scalars", []) if scalars is None else scalars,
    }
    common = CommonClock(frame("clocks", []), read["sources"])
    paced = paces(read["scalars"], read["sources"])
    return waits(read, collectives(spans), steps(spans), paced, common).to_dicts()


def spans(spent: dict[str, float]) -> pl.DataFrame:
    """Four collectives of each worker, a second apart, each taking so long; half a second of input."""
    rows = [
        {"worker": worker, "kind": kind, "name": name, "start": at, "end": at + length, "instance": instance,
         "thread": name}
        for worker, seconds in spent.items()
        for instance in range(4)
        for kind, name, at, length in (
            ("collective", "CollectiveReduce", float(instance), seconds),
            ("input", "Iterator::Root", instance + 0.1, 0.0307),
        )
    ]  # fmt: skip
    return frame("spans", rows)


def test_shares_are_told_in_percent_too() -> None:
    """Rounded as people say them; a share of 0.00308 is 0.3 %."""
    rows = found(spans({"worker:0": 0.9, "worker:1": 0.9, "worker:2": 0.0121}))
    late = rows[2]
    assert (late["collective_percent"], late["straggler_wait_percent"], late["input_percent"]) == (
        1.6,
        90.7,
        3.9,
    )
    for row in rows:
        for name in ("collective", "straggler_wait", "input"):
            assert row[f"{name}_percent"] == pytest.approx(100 * row[f"{name}_share"], abs=0.05)  # type: ignore[operator]


KERNEL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def on_gpus(spent: dict[str, float]) -> pl.DataFrame:
    """Four collectives of each worker: an operation that only starts a kernel, and the kernel twice."""
    rows = [
        {"worker": worker, "kind": "collective", "name": name, "start": at, "end": at + length,
         "instance": instance if name == "CollectiveReduceV2" else None, "thread": thread}
        for worker, seconds in spent.items()
        for instance in range(4)
        for name, thread, at, length in (
            ("CollectiveReduceV2", "collective_ops/7", float(instance), 2e-5),
            (KERNEL, "collective_ops", instance + 0.01, 2e-5),
            (KERNEL, "Stream #67(Compute)", instance + 0.02, seconds),
        )
        if length
    ]  # fmt: skip
    return frame("spans", rows)


def test_on_gpus_the_kernels_of_nccl_wait() -> None:
    """The operation on the host ends as soon as it has started one."""
    early, late = found(on_gpus({"worker:0": 0.9, "worker:1": 0.1}))
    assert (early["last"], late["last"]) == (0, 4)
    assert late["caused_seconds"] == pytest.approx(4 * 0.8)
    assert early["collective_seconds"] == pytest.approx(4 * 0.9)


def test_a_trace_without_kernels_is_not_compared_with_one_that_has_them() -> None:
    """Its operations end at once, whoever waits."""
    (has, has_not) = found(on_gpus({"worker:0": 0.9, "worker:1": 0.0}))
    assert (has["last"], has_not["collectives"]) == (None, 0)


def test_kernels_of_another_number_are_matched_by_time() -> None:
    """Here worker:1 traced an operation whose kernel ran before."""
    table = on_gpus({"worker:0": 0.9, "worker:1": 0.1})
    first = {
        "worker": "worker:1",
        "kind": "collective",
        "name": "CollectiveReduceV2",
        "start": -1.0,
        "end": -0.9,
    }
    extra = frame("spans", [{**first, "instance": 9, "thread": "collective_ops/7"}])
    early, late = found(pl.concat([table, extra]).with_columns(absolute=True))
    assert (early["last"], late["last"]) == (0, 4)


def test_one_worker_alone_makes_nobody_wait() -> None:
    """Nothing to compare with is no delay of zero."""
    (row,) = found(spans({"worker:0": 0.9}))
    assert (row["straggler_wait_share"], row["straggler_wait_percent"]) == (None, None)


def test_who_was_last_how_often_and_what_it_cost() -> None:
    """Entered last is who was in it for the shortest time; it cost what the next to last waited longer."""
    early, second, late = found(spans({"worker:0": 0.9, "worker:1": 0.5, "worker:2": 0.1}))
    assert [row["last"] for row in (early, second, late)] == [0, 0, 4]
    assert [row["last_percent"] for row in (early, late)] == [0.0, 100.0]
    assert late["caused_seconds"] == pytest.approx(4 * 0.4)
    assert early["caused_seconds"] == 0


def test_a_collective_that_never_ended_is_watched_to_the_end_of_the_trace() -> None:
    """Of the worker that did not come, the trace shows none."""
    rows = [
        {
            "worker": "worker:0",
            "kind": "collective",
            "name": "r",
            "start": 100.0,
            "end": 100.5,
            "instance": 1,
        },
        {"worker": "worker:0", "kind": "collective", "name": "r", "start": 101.0, "instance": None},
        {
            "worker": "worker:1",
            "kind": "collective",
            "name": "r",
            "start": 100.0,
            "end": 100.5,
            "instance": 1,
        },
    ]
    table = frame("spans", [{**row, "thread": "t", "absolute": True} for row in rows])
    sources = frame(
        "sources",
        [
            {"worker": f"worker:{index}", "kind": "trace", "first_time": 100.0, "last_time": end}
            for index, end in enumerate((131.0, 99.0))
        ],
    )
    progress = frame("scalars", [{"worker": f"worker:{i}", "attempt": 1, "time": 100.7} for i in (0, 1)])
    stuck, absent = found(table, sources, progress)
    assert (stuck["open"], stuck["open_seconds"], stuck["covers_end"]) == (1, 30.0, True)
    assert (absent["open"], absent["open_seconds"], absent["covers_end"]) == (0, None, False)
    assert [row["covers_end"] for row in found(table)] == [None, None]


def test_a_trace_of_quick_steps_is_told_from_a_slow_run() -> None:
    """One collective a second is traced; by the event file a step takes four."""
    told = [
        {
            "worker": "worker:0",
            "attempt": 1,
            "source": "e",
            "tag": "loss",
            "origin": "event_file",
            "value": 1.0,
        }
        | {"step": step, "time": 100.0 + 4 * step}
        for step in range(20)
    ]
    one, other = found(spans({"worker:0": 0.5, "worker:1": 0.5}), scalars=frame("scalars", told))
    assert (one["step_time"], one["outside_factor"]) == (1.0, 4.0)
    assert other["outside_factor"] is None
