"""Standard output that a process wrote as it ended, below the exception that ended it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, derived, fit, raised, says, server_started, step, steps

BEGUN = [server_started(10.0)]
FLUSHED = steps(1, 2, 3)
RAISED = raised("KeyError: 'label_17'")
LOST = raised("errors_impl.UnavailableError: Collective ops is aborted by: Socket closed")
IN_A_STEP = raised(
    "errors_impl.InvalidArgumentError: Graph execution error:\n\nReceived a label value of 396"
)
REPLICAS = says("replicas in sync: 2", facts={"replicas": "2"})


def final(log: Sequence[Line], code: str | None = None) -> bool:
    """Whether the exception of a log ended its process."""
    codes = {} if code is None else {"exit_code": {"worker:1": code}}
    return bool(
        derived({"worker-0.log": [*BEGUN], "worker-1.log": log}, **codes)["exceptions"]["final"].item()
    )


@pytest.mark.parametrize(
    ("log", "code"),
    [
        pytest.param([*BEGUN, RAISED, REPLICAS, *FLUSHED], "1", id="nothing caught it"),
        pytest.param([*BEGUN, LOST, *FLUSHED], None, id="nobody trains on without a peer"),
        pytest.param([*BEGUN, IN_A_STEP, *FLUSHED], None, id="of a step"),
    ],
)
def test_steps_below_an_exception_came_before_it(log: Sequence[Line], code: str | None) -> None:
    """They are all there are, and bear no time."""
    assert final(log, code)


@pytest.mark.parametrize(
    ("log", "code"),
    [
        pytest.param([*BEGUN, RAISED, *FLUSHED], None, id="perhaps caught before the first step"),
        pytest.param([*BEGUN, RAISED, *FLUSHED], "137", id="killed later"),
        pytest.param([*BEGUN, RAISED, *FLUSHED], "0", id="nothing went wrong"),
        pytest.param([RAISED, *BEGUN, *FLUSHED], "1", id="before TensorFlow started"),
        pytest.param([*BEGUN, *steps(1), RAISED, *steps(2, 3)], "1", id="steps above it"),
        pytest.param([*BEGUN, RAISED, step(1, 20.0)], "1", id="a later time"),
        pytest.param([*BEGUN, RAISED, fit(19), fit(20)], "1", id="the planned end"),
    ],
)
def test_other_steps_below_an_exception_came_after_it(log: Sequence[Line], code: str | None) -> None:
    """The process went on, as far as the log shows."""
    assert not final(log, code)


@pytest.mark.parametrize(
    ("above", "below", "went_on"),
    [
        pytest.param([], FLUSHED, False, id="all steps below it"),
        pytest.param(steps(1, 2), steps(3), True, id="steps on both sides"),
        pytest.param([], [step(1, 30.0)], True, id="a later time"),
    ],
)
def test_steps_below_a_sigterm_need_not_follow_it(
    above: Sequence[Line], below: Sequence[Line], went_on: bool
) -> None:
    """TensorFlow catches the signal, and the hung process is killed or leaves some time later."""
    caught = says(
        "W preemption_notifier.cc:89] SIGTERM caught at 2026", 20.0, {"sigterm": "2026"}, kind="cpp"
    )
    lives = derived({"worker-0.log": [*BEGUN, *above, caught, *below]})["lifetimes"]
    assert lives["went_on"].to_list() == [went_on]


@pytest.mark.parametrize(
    ("below", "code", "peer", "ended"),
    [
        (steps(3), None, LOST, True),
        (steps(3), "1", LOST, True),
        (steps(3, 4), None, LOST, False),
        ([*steps(3), says("saved again")], None, LOST, False),
        (steps(3), "137", LOST, False),
        (steps(3), None, says("step 3 loss 0.5"), False),
    ],
    ids=["lost", "exit code 1", "two steps", "another line", "killed", "nobody lost a peer"],
)
def test_the_last_line_of_a_stream_may_come_after_the_traceback(
    below: Sequence[Line], code: str | None, peer: Line, ended: bool
) -> None:
    """A collector that reads two streams tells no order between their last lines."""
    codes = {} if code is None else {"exit_code": {"worker:1": code}}
    logs = {"worker-0.log": [*steps(1, 2), peer], "worker-1.log": [*steps(1, 2), RAISED, *below]}
    raised_by = derived(logs, **codes)["exceptions"].filter(worker="worker:1")
    assert raised_by["final"].item() is ended
