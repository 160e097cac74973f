"""What a scheduler's word on the end of a job says of the workers, and what it does not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import Line, cluster_of, derived, error, fit, says, server_started, step

CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}
T = 1_795_225_236.0
TRAINING = [server_started(T), *(step(n, T + n) for n in range(1, 6))]
LOST = (
    "Collective ops is aborted by: Connection reset by peer\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:1:"
)


def stop(after: float, key: str = "ended_at") -> Line:
    """What slurmstepd prints as it ends a job, some seconds after T."""
    at = datetime.fromtimestamp(T + after, UTC).isoformat()[:19]
    return says(f"slurmstepd: error: CANCELLED AT {at}", facts={key: at})


def task_ended(code: str) -> Line:
    """What srun prints of a task."""
    return says("srun: error: node1: task 1", facts={"exit_code": code})


def of_both(first: Sequence[Line], second: Sequence[Line]) -> Tables:
    """The tables of two workers."""
    return derived({"worker-0.log": first, "worker-1.log": second}, cluster_spec=CLUSTER)


@pytest.mark.parametrize("key", ["ended_at", "cancelled_at"])
def test_a_job_stood_still_until_its_scheduler_ended_it(key: str) -> None:
    """SIGTERM that srun reports below that is of the scheduler."""
    first = [*TRAINING, stop(30_000, key), task_ended("-15")]
    tables = of_both(first, [*TRAINING, stop(30_000, key)])
    assert tables["lifetimes"]["ended"].to_list() == ["stopped", "stopped"]
    assert tables["job"]["stood"].item() == "this lasted 8.3 h"


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ([task_ended("-15"), stop(30_000, "cancelled_at")], "signal"),
        ([task_ended("1"), stop(30_000, "cancelled_at")], "exited"),
        ([stop(30_000), task_ended("-11")], "signal"),
    ],
    ids=["SIGTERM before srun cancelled the step", "it failed before that", "a crash"],
)
def test_a_task_that_ended_by_itself_was_not_stopped(lines: Sequence[Line], ended: str) -> None:
    """Nor does a job stand still where a worker ended."""
    tables = of_both(TRAINING, [*TRAINING, *lines])
    assert tables["lifetimes"]["ended"][1] == ended
    assert not tables["job"]["stalled"].item()


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        (3.0, False),
        (60.0, True),
        (7200.0 + 60, True),
        (7200.0 + 3, False),
        (7200.0 - 3, False),
        (-60.0, False),
    ],
    ids=[
        "as it ended",
        "a minute",
        "hours",
        "as it ended, in another zone",
        "after it, in another zone",
        "after it",
    ],
)
def test_a_peer_was_lost_before_the_scheduler_ended_the_job(after: float, lost: bool) -> None:
    """The cancel itself and a time zone explain what is near a quarter of an hour."""
    first = [*TRAINING, error(LOST, T + 6), stop(6 + after)]
    words = of_both(first, TRAINING)["job"]["lost_before_stop"].item()
    assert (words is not None) is lost
    assert words is None or words.startswith("worker:0 had lost worker:1 ")


def epochs(last: float | None = None) -> list[Line]:
    """Two epochs of 20 steps of 0.04 s without times, and a line with one where `last` is given."""
    took = {"tag": "step_seconds", "epoch": 1, "epochs": 3, "step": 20, "steps": 20, "value": 0.04}
    reported = fit(20, 1, 3)
    reported = reported._replace(values=[*reported.values, took | {"origin": "fit", "scope": "local"}])
    return [server_started(T), reported, fit(3, 2, 3), *([] if last is None else [says("uploading", last)])]


@pytest.mark.parametrize(
    ("last", "after", "stalled"),
    [(None, 28_822.0, True), (None, 22.0, False), (T + 28_000, 28_822.0, False)],
    ids=["hours", "seconds", "a later line has a time"],
)
def test_the_durations_that_fit_prints_tell_when_an_epoch_ended(
    last: float | None, after: float, stalled: bool
) -> None:
    """They do where no line with a time follows."""
    tables = of_both([*epochs(last), stop(after)], [*epochs(last), stop(after)])
    assert tables["job"]["stalled"].item() is stalled
