"""Parts of a step that the workers' own logs time."""

from __future__ import annotations

import pytest

from analyzer.derive.training.phases import phases
from analyzer.tables.builders import frame


def values(worker: str, **seconds: float) -> list[dict[str, object]]:
    """Three steps of a worker, each part of which takes as long as said."""
    return [
        {"worker": worker, "tag": f"{part}_seconds", "step": step, "value": took, "origin": "loop"}
        for step in (1, 2, 3)
        for part, took in seconds.items()
    ]


def test_a_part_is_compared_with_that_of_the_others() -> None:
    """As a share of the worker's own step; what is no part of a step is left out."""
    rows = [*values("worker:0", read=0.1, device=0.9), *values("worker:1", read=0.7, device=0.3, epoch=60.0)]
    found = {(row["worker"], row["kind"]): row for row in phases(frame("scalars", rows)).to_dicts()}
    assert len(found) == 4
    late = found["worker:1", "input"]
    assert (late["longest"], late["points"], late["others_seconds"]) == (True, 3, 0.1)
    assert late["share"] == pytest.approx(0.7)
    assert late["excess_share"] == pytest.approx(0.6)
    assert found["worker:0", "input"]["longest"] is False


def test_one_worker_is_compared_with_nobody() -> None:
    """Nothing to compare with is no excess of zero."""
    (row,) = phases(frame("scalars", values("worker:0", data=0.5))).to_dicts()
    assert (row["kind"], row["longest"], row["excess_share"]) == ("input", False, None)


def test_the_time_in_a_collective_is_no_device_time() -> None:
    """Who computes longest waits least in it."""
    rows = [
        *values("worker:0", fwd_bwd=0.2, allreduce=0.8),
        *values("worker:1", fwd_bwd=0.9, allreduce=0.1),
    ]
    found = {(row["worker"], row["kind"]): row for row in phases(frame("scalars", rows)).to_dicts()}
    assert found["worker:1", "device"]["excess_share"] == pytest.approx(0.7)
    assert found["worker:1", "collective"]["excess_share"] == pytest.approx(-0.7)


def test_a_wait_of_which_the_log_does_not_say_for_what_is_no_collective() -> None:
    """A wait for input is input, and one in a collective is the collective's."""
    rows = values("worker:0", compute=0.2, wait=0.8, data_wait=0.1, allreduce_wait=0.3)
    kinds = {row["tag"]: row["kind"] for row in phases(frame("scalars", rows)).to_dicts()}
    assert kinds == {
        "compute_seconds": "device", "wait_seconds": "wait", "data_wait_seconds": "input",
        "allreduce_wait_seconds": "collective",
    }  # fmt: skip


def test_a_part_is_no_share_of_itself() -> None:
    """Where the computation is not timed, the step is as long as the log says, or the clock."""
    few = values("worker:0", data=0.1)
    assert [row["share"] for row in phases(frame("scalars", few)).to_dicts()] == [None]
    stated = values("worker:0", data=0.1, step=0.4)
    assert [row["share"] for row in phases(frame("scalars", stated)).to_dicts()] == [pytest.approx(0.25)]
    clocked = [row | {"time": 0.5 * int(str(row["step"]))} for row in few]
    assert [row["share"] for row in phases(frame("scalars", clocked)).to_dicts()] == [pytest.approx(0.2)]


def timed_lines(worker: str, seconds: float, *, every: int, step: float) -> list[dict[str, object]]:
    """Lines of a worker every few steps, each of which takes `step` seconds by the clock."""
    return [
        {"worker": worker, "tag": tag, "step": at, "time": at * step, "value": took, "origin": "loop"}
        for at in range(every, 6 * every, every)
        for tag, took in (("input_seconds", seconds), ("train_seconds", seconds / 2))
    ]


def test_a_sum_over_the_steps_since_the_line_before_becomes_that_of_one_step() -> None:
    """By the clock a step is shorter than its parts; what is printed now and then of one step stays."""
    rows = [
        *timed_lines("worker:0", 2.4, every=10, step=0.36),
        *timed_lines("worker:1", 0.24, every=10, step=0.36),
    ]
    found = {(row["worker"], row["kind"]): row for row in phases(frame("scalars", rows)).to_dicts()}
    assert found["worker:0", "input"]["seconds"] == pytest.approx(0.24)
    assert found["worker:1", "input"]["seconds"] == pytest.approx(0.24)
    assert found["worker:0", "input"]["share"] == pytest.approx(2 / 3)


def test_epochs_count_where_no_step_is_timed() -> None:
    """A worker that times steps is compared by these."""
    epochs = [
        {"worker": "worker:0", "tag": f"{part}_seconds", "epoch": epoch, "value": took, "origin": "loop"}
        for epoch in (1, 2, 3)
        for part, took in (("input", 6.0), ("compute", 2.0))
    ]
    found = phases(frame("scalars", epochs)).to_dicts()
    assert {(row["kind"], row["per"], row["share"]) for row in found} == {
        ("input", "epoch", 0.75), ("device", "epoch", 0.25),
    }  # fmt: skip
    mixed = phases(frame("scalars", [*epochs, *values("worker:0", read=0.1, device=0.9)])).to_dicts()
    assert {row["per"] for row in mixed} == {"step"}
