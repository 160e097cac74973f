"""Workers whose training was done before their process ended badly, and workers that left before it was."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, cluster_of, derived, raised, says, server_started, step

CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}
TRAINING = [server_started(10.0), *(step(n, 10.0 + n) for n in range(1, 6))]
DONE = says("training finished", 16.0)
ABORTED = says("Fatal Python error: Aborted", 17.0, level="F", kind="traceback")
IN_CODE = says(
    "Fatal Python error: Aborted\n\nCurrent thread 0x00007f17 (most recent call first):\n"
    '  File "/workspace/train.py", line 107 in export',
    17.0,
    level="F",
    kind="traceback",
)
SIGTERM = says("received SIGTERM, saving and leaving", 16.0, {"sigterm": "received SIGTERM"})


@pytest.mark.parametrize(
    ("lines", "code", "ended"),
    [
        ([DONE], "-15", "finished"),
        ([DONE, says("exporting the model", 17.0)], "-15", "signal"),
        ([], "-15", "signal"),
        ([DONE], "-9", "signal"),
        ([DONE, ABORTED], "-6", "finished"),
        ([DONE, IN_CODE], "-6", "exception"),
        ([ABORTED], "-6", "exception"),
        ([SIGTERM], "0", "stopped"),
        ([SIGTERM, says("done, leaving", 18.0)], "0", "stopped"),
        ([SIGTERM, DONE], "0", "finished"),
        ([SIGTERM, step(6, 18.0)], "0", "finished"),
        ([], "0", "finished"),
    ],
    ids=[
        "SIGTERM after the end",
        "SIGTERM while it exports",
        "SIGTERM in training",
        "SIGKILL after the end",
        "an abort at exit",
        "an abort in code",
        "an abort in training",
        "it leaves on SIGTERM",
        "it says so",
        "SIGTERM, and yet it finishes",
        "it goes on after SIGTERM",
        "no word",
    ],
)
def test_how_a_worker_ended(lines: Sequence[Line], code: str, ended: str) -> None:
    """The other one has finished."""
    logs = {"worker-0.log": [*TRAINING, DONE], "worker-1.log": [*TRAINING, *lines]}
    codes = {"worker:0": "0", "worker:1": code}
    assert derived(logs, cluster_spec=CLUSTER, exit_code=codes)["lifetimes"]["ended"][1] == ended


def test_who_reported_the_end_had_arrived_there() -> None:
    """However its process ended afterwards."""
    logs = {"worker-0.log": [*TRAINING, DONE], "worker-1.log": [*TRAINING, DONE]}
    codes = {"worker:0": "0", "worker:1": "-9"}
    barriers = derived(logs, cluster_spec=CLUSTER, exit_code=codes)["barriers"]
    assert barriers.filter(barrier="end")["arrived"].to_list() == [True, True]


@pytest.mark.parametrize(
    ("at", "at_work"), [(17.0, True), (100.0, False)], ids=["at work", "it had stood still"]
)
def test_a_worker_is_asked_to_end_at_its_work_or_long_after_it(at: float, at_work: bool) -> None:
    """What it saves afterwards does not count as a silence."""
    left = [*TRAINING, says("received SIGTERM", at, {"sigterm": "received SIGTERM"}), says("saved", at + 60)]
    tables = derived({"worker-0.log": left, "worker-1.log": left}, cluster_spec=CLUSTER)
    assert tables["silences"]["asked_at_work"].to_list() == [at_work, at_work]
    assert tables["job"]["stalled"].item() is not at_work


def test_without_times_of_its_epochs_nothing_shows_that_a_worker_was_at_work() -> None:
    """Only TensorFlow's lines have times, so that its last time is that of the SIGTERM itself."""
    epoch = {"epoch": 2, "epochs": 4, "step": None, "scope": "unknown", "origin": "loop"}
    done = Line({"text": "epoch 2/4: loss 0.5", "kind": "progress"}, [epoch | {"tag": "loss", "value": 0.5}])
    left = [server_started(1.0), done, says("SIGTERM caught at", 90.0, {"sigterm": "caught"})]
    tables = derived({"worker-0.log": left, "worker-1.log": left}, cluster_spec=CLUSTER)
    assert not tables["silences"]["asked_at_work"].any()


def test_a_worker_that_leaves_for_a_preemption_has_not_finished() -> None:
    """TensorFlow's handler saves on all workers and ends them all, to be started again."""
    left = says("INFO:tensorflow:PreemptionCheckpointHandler: checkpoint saved. Exiting.", 16.0)
    logs = {f"worker-{n}.log": [*TRAINING, left] for n in range(2)}
    assert derived(logs, cluster_spec=CLUSTER)["lifetimes"]["ended"].to_list() == ["unknown", "unknown"]


PART = [step(n, steps=20) for n in range(1, 8)]
CRASH = raised("ValueError: invalid literal for int() with base 10: 'n/a'")
WRAPPED = says("pipeline finished")
STOPPED = says("Epoch 7: early stopping")


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ([*PART, CRASH, WRAPPED], "exception"),
        ([*PART, CRASH, step(20, steps=20), WRAPPED], "finished"),
        ([*PART, step(20, steps=20), CRASH, WRAPPED], "finished"),
        ([*PART, STOPPED, CRASH, WRAPPED], "finished"),
        ([*PART, CRASH, says("training finished")], "finished"),
        ([CRASH, *PART, WRAPPED], "finished"),
        ([*(step(n) for n in range(1, 8)), CRASH, WRAPPED], "finished"),
    ],
    ids=[
        "in the midst of the plan",
        "overcome",
        "after the last step",
        "after early stopping",
        "the training itself was done",
        "before the first step",
        "no plan stated",
    ],
)
def test_a_wrapper_that_goes_on_below_an_exception(lines: Sequence[Line], ended: str) -> None:
    """What it says and its exit code of 0 count as the end of the training only where that may have ended."""
    logs = {"worker-0.log": lines, "worker-1.log": lines}
    codes = {"worker:0": "0", "worker:1": "0"}
    assert {*derived(logs, exit_code=codes)["lifetimes"]["ended"]} == {ended}
