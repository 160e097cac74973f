"""The order in which a launcher's log lists the ends of processes, and what their own logs say against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

pytestmark = pytest.mark.runs

STEPS = "step 1 loss 0.7\nstep 2 loss 0.6\n"
LOST = (
    "Traceback (most recent call last):\n"
    '  File "/app/fit.py", line 9, in <module>\n'
    "    train()\n"
    "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: {}\n"
)
RAISED = LOST.partition("tensorflow.")[0] + "KeyError: 'label_17'\n"
ENDS = "worker 0 exited with code 1\nworker 1 exited with code {}\n"


@pytest.mark.parametrize(
    ("first", "code", "ended"),
    [
        pytest.param(LOST.format("Socket closed"), 137, "signal", id="lost the one that was killed"),
        pytest.param(LOST.format("Connection timed out"), 137, "stopped", id="met silence, not an end"),
        pytest.param(RAISED, 137, "stopped", id="failed by itself"),
        pytest.param(LOST.format("Socket closed"), 143, "stopped", id="a signal that launchers send"),
    ],
)
def test_a_task_that_the_others_lost_was_not_killed_for_their_sake(
    first: str, code: int, ended: str, tables_of: Callable[[Mapping[str, str]], Tables]
) -> None:
    """Launchers wait for workers one after the other; only what the first one met tells which ended first."""
    logs = {"worker-0.log": STEPS + first, "worker-1.log": STEPS}
    lifetimes = tables_of({**logs, "launch.log": ENDS.format(code)})["lifetimes"]
    assert dict(lifetimes.select("worker", "ended").iter_rows())["worker:1"] == ended


def test_of_two_that_were_killed_none_was_surely_first(
    tables_of: Callable[[Mapping[str, str]], Tables],
) -> None:
    """The launcher may have killed one of them."""
    logs = {f"worker-{index}.log": STEPS for index in (1, 2)}
    logs["worker-0.log"] = STEPS + LOST.format("Socket closed")
    ends = ENDS.format(137) + "worker 2 exited with code 137\n"
    lifetimes = tables_of({**logs, "launch.log": ends})["lifetimes"]
    assert {*lifetimes.filter(lifetimes["worker"] != "worker:0")["ended"]} == {"stopped"}
