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
