"""How far a worker came and how it ended, from whatever was kept."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import (
    Line,
    cluster_of,
    derived,
    error,
    fit,
    raised,
    says,
    server_started,
    step,
    steps,
)

LOST = raised(
    "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed"
)
CANCELLED = raised("tensorflow.python.framework.errors_impl.CancelledError: Session was closed.")
STEPS = steps(1, 2)
DONE = says("training finished")
CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}


def life(tables: Tables, worker: str) -> dict[str, Any]:
    """The row of one worker."""
    (row,) = [row for row in tables["lifetimes"].iter_rows(named=True) if row["worker"] == worker]
    return row


@pytest.mark.parametrize(
    ("log", "code", "ended"),
    [
        ([*STEPS, DONE], None, "finished"),
        ([*STEPS, DONE, says("terminate called without an active exception")], "-6", "finished"),
        ([fit(20)], None, "finished"),
        ([fit(20)], "running", "running"),
        ([*STEPS, DONE], "running", "finished"),
        ([*STEPS, raised("KeyError: 'x'")], None, "exception"),
        ([*STEPS, LOST], "1", "aborted_by_peer"),
        (STEPS, "-9", "signal"),
        (STEPS, "3", "exited"),
        (STEPS, "running", "running"),
        (STEPS, None, "unknown"),
        ([says("training complete")], None, "finished"),
        ([*STEPS, says("Training completed. Do not forget to share your model!")], None, "finished"),
        ([*STEPS, says("Training is not completed. Share the log")], None, "unknown"),
        ([says("Loss for final step: 0.33.")], None, "finished"),
        ([*STEPS, says("Loss for final step: 0.33."), CANCELLED], None, "finished"),
        ([*STEPS, says("Loss for final step: 0.33."), CANCELLED], "1", "exited"),
        ([*STEPS, says("Loss for final step: 0.33."), LOST], None, "aborted_by_peer"),
        ([*STEPS, says("Loss for final step: 0.33."), raised("KeyError: 'x'")], None, "exception"),
        ([*STEPS, CANCELLED], None, "unknown"),
        ([*STEPS, raised("KeyError: 'x'"), CANCELLED], None, "exception"),
        (
            [says("Signal 15 (SIGTERM) was caught. Terminated by service. This is normal behavior.")],
            None,
            "finished",
        ),
        ([*STEPS, says('{"event": "end"}')], None, "finished"),
        ([*STEPS, says('{"event": "end", "name": "load"}')], None, "unknown"),
        ([says("preparation complete")], None, "unknown"),
        ([*STEPS, says("Process finished with exit code 137")], None, "unknown"),
        ([*STEPS, says("job finished: rc=143")], None, "unknown"),
        ([*STEPS, says("loss is done")], None, "unknown"),
        ([*STEPS, says("INFO:tensorflow:Finished running Summary operation.")], None, "unknown"),
        ([*STEPS, says("training finished, the last loss is 0.3")], None, "finished"),
        ([*STEPS, says("completed with errors")], None, "unknown"),
        ([*STEPS, says("epoca 1 terminada, perdida media 2.59")], None, "unknown"),
        ([*STEPS, says("entrenamiento terminado")], None, "finished"),
        ([*STEPS, says("Training ist fertig.")], None, "finished"),
        ([*STEPS, says("fim do treino")], None, "finished"),
        ([*STEPS, says("Ende des Trainings in Sicht? Fehler 3")], None, "unknown"),
        ([*STEPS, says("Vortraining fertig, beginne Feinabstimmung")], None, "unknown"),
        ([*STEPS, says("Solved at episode 195! mean reward 195.05")], None, "finished"),
        ([*STEPS, says("not solved after 120 episodes")], None, "unknown"),
        ([*STEPS, says("bye epochs=5 stopped_early=False")], None, "finished"),
        ([*STEPS, says("bye finished=False")], None, "unknown"),
        ([*STEPS, says("training finished: false")], None, "unknown"),
        ([fit(7), says("upload finished")], None, "unknown"),
        ([fit(7), DONE], None, "finished"),
        ([*STEPS, says("train | step: 3 | finished.")], None, "finished"),
        ([says("step 1 | finished"), says("step 2 | finished")], None, "unknown"),
        ([*STEPS, says("step 3, epoch 1 finished")], None, "unknown"),
    ],
)
def test_the_end_of_a_worker(log: list[Line], code: str | None, ended: str) -> None:
    """What is written down decides: closing line, traceback, exit code."""
    codes = {"worker:0": code} if code else {}
    assert life(derived({"worker-0.log": log}, exit_code=codes), "worker:0")["ended"] == ended


@pytest.mark.parametrize(("log", "known"), [(STEPS, False), ([fit(3)], True)])
def test_a_plan_is_known_where_the_log_states_it(log: list[Line], known: bool) -> None:
    """As `Epoch 2/3` does; a step without an end in sight does not."""
    assert life(derived({"worker-0.log": log}), "worker:0")["plan_known"] is known


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("Evaluation complete", "unknown"),
        ("training and evaluation complete", "finished"),
        ("INFO:tensorflow:Finished evaluation at 2019-03-01-04:08:28", "unknown"),
        ("INFO:tensorflow:Done calling model_fn.", "unknown"),
        ("INFO:tensorflow:Outfeed finished for iteration (1862, 53)", "unknown"),
        ("broadcast of variables done", "unknown"),
        ("data parallel training finished", "finished"),
        ("Finished reading 128 shards", "unknown"),
        ("finished rank=worker-1 steps=80", "finished"),
        ("Batch 3 finished", "unknown"),
        ("Checkpoint saved successfully to /ckpt/12", "unknown"),
        ("Model trained successfully", "finished"),
        ("Successfully installed tensorflow-2.4.1", "unknown"),
        ("Total time: 12.1 s per step", "unknown"),
        ("total training time: 12.1 s", "finished"),
        ("a3ed95caeb02: Pull complete", "unknown"),
        ("Solving environment: done", "unknown"),
        ("node7:21:45 [1] NCCL INFO ncclCommInitRank comm 0x7d10 rank 1 nranks 4 - Init COMPLETE", "unknown"),
        ("19/05/24 18:28:42 INFO Executor: Finished task 7.0 in stage 74.0 (TID 1180).", "unknown"),
        ("otherwise exiting without calling MPI_FINALIZE first).", "unknown"),
        ("exiting", "finished"),
        ("ratings learned", "finished"),
        ("all embeddings trained.", "finished"),
        ("k-means converged", "finished"),
        ("loss has not converged", "unknown"),
        ("loading the weights that were pre-trained", "unknown"),
        ("3 of 5 folds trained so far", "unknown"),
    ],
)
def test_only_the_end_of_the_whole_ends_a_worker(line: str, ended: str) -> None:
    """A part that is done, or another program, says nothing of the training."""
    tables = derived({"worker-0.log": [*STEPS, says(line)]})
    assert life(tables, "worker:0")["ended"] == ended


@pytest.mark.parametrize(("code", "name"), [("-11", "SIGSEGV"), ("-77", "signal 77"), ("3", None)])
def test_a_signal_has_a_name(code: str, name: str | None) -> None:
    """Numbers that the operating system does not define keep their number."""
    tables = derived({"worker-0.log": STEPS}, exit_code={"worker:0": code})
    assert life(tables, "worker:0")["signal_name"] == name


def test_a_log_that_just_ends_is_vanished_only_where_a_peer_fell() -> None:
    """And that is inferred, not written down."""
    found = life(derived({"worker-0.log": [*STEPS, LOST], "worker-1.log": STEPS}), "worker:1")
    assert (found["ended"], found["sure"]) == ("vanished", False)


def test_a_task_of_the_cluster_without_a_source_never_started() -> None:
    """TF_CONFIG of another worker lists it."""
    found = life(derived({"worker-0.log": [says("hello")]}, cluster_spec=CLUSTER), "worker:1")
    assert (found["ended"], found["phase"]) == ("never_started", "absent")


def test_beside_parameter_servers_a_worker_trains_if_it_makes_steps() -> None:
    """Under a ClusterCoordinator it only serves the chief."""
    served = {f"{name}.log": [says("serving")] for name in ("ps-0", "worker-1")}
    tables = derived({**served, "chief-0.log": STEPS, "worker-0.log": STEPS})
    assert [life(tables, worker)["trains"] for worker in ("worker:0", "worker:1")] == [True, False]


def test_the_one_behind_all_others_is_marked() -> None:
    """By epoch and step, not by time."""
    tables = derived({"worker-0.log": STEPS, "worker-1.log": steps(1), "worker-2.log": STEPS})
    assert [life(tables, f"worker:{index}")["behind_all"] for index in range(3)] == [False, True, False]
    assert life(tables, "worker:1")["behind"] == 1


@pytest.mark.parametrize(
    ("last", "below", "ended"),
    [
        (raised("KeyError: 'auc'"), [], "exception"),
        (raised("KeyError: 'auc'"), [says("using the defaults instead")], "finished"),
        (LOST, [error("Error occurred when finalizing GeneratorDataset iterator", level="W")], "aborted_by_peer"),
        (LOST, [says("the peers are done")], "finished"),
    ],
)  # fmt: skip
def test_an_exit_code_of_0_does_not_undo_the_exception_that_was_last(
    last: Line, below: list[Line], ended: str
) -> None:
    """A script may catch everything, log it and leave with 0; one that goes on has handled it."""
    tables = derived({"worker-0.log": [*STEPS, last, *below]}, exit_code={"worker:0": "0"})
    assert life(tables, "worker:0")["ended"] == ended


@pytest.mark.parametrize(
    ("below", "ended"), [([], "aborted_by_peer"), (steps(3), "finished"), ([DONE], "finished")]
)
def test_a_collective_that_broke_off_was_no_end(below: list[Line], ended: str) -> None:
    """A script that catches what follows and leaves with 0 did not finish; one that goes on may have."""
    broke = error("Aborting RingReduce with UNAVAILABLE: Socket closed")._replace(
        facts={"collective_broke": "Aborting RingReduce"}
    )
    tables = derived({"worker-0.log": [*STEPS, broke, *below]}, exit_code={"worker:0": "0"})
    assert life(tables, "worker:0")["ended"] == ended
    failed = derived({"worker-0.log": [*STEPS, broke]}, exit_code={"worker:0": "9"})
    assert life(failed, "worker:0")["ended"] == "aborted_by_peer"


def test_the_last_life_of_a_worker_is_told() -> None:
    """It has got less far than the one before it."""
    lives = {"worker-0.log": [server_started(), *STEPS], "worker-0-attempt-2.log": [server_started()]}
    found = life(derived(lives), "worker:0")
    assert (found["attempts"], found["restarted"], found["phase"]) == (2, True, "server_up")


def test_all_that_stop_together_in_good_order_have_finished_and_one_alone_has_not() -> None:
    """Early stopping on every worker is a plan; on one worker it is a fault."""
    early = [fit(20, epochs=3)]
    later = [*early, fit(5, epoch=2, epochs=3)]
    codes = {"worker:0": "0", "worker:1": "0"}
    together = derived({"worker-0.log": early, "worker-1.log": early}, exit_code=codes)
    assert {life(together, f"worker:{index}")["ended"] for index in range(2)} == {"finished"}
    alone = derived({"worker-0.log": early, "worker-1.log": later}, exit_code=codes)
    assert life(alone, "worker:0")["ended"] == "exited"


def second_epoch(number: int) -> list[Line]:
    """The whole first epoch, and the second one up to a step."""
    return [fit(20, epochs=3), fit(number, epoch=2, epochs=3)]


@pytest.mark.parametrize(
    ("logs", "behind_all"),
    [
        ([second_epoch(10), second_epoch(10), steps(30)], [False, False, False]),
        ([second_epoch(10), second_epoch(10), steps(29)], [False, False, True]),
        ([second_epoch(10), second_epoch(11), second_epoch(12)], [True, False, False]),
        ([second_epoch(10), second_epoch(11), [step(30, epoch=1)]], [None, None, None]),
        ([steps(31), steps(30), [step(0, epoch=3)]], [None, None, None]),
    ],
)
def test_places_of_different_units_are_not_compared(
    logs: list[list[Line]], behind_all: list[bool | None]
) -> None:
    """`fit` counts within the epoch; how many steps an epoch has turns that into steps since the start."""
    tables = derived({f"worker-{index}.log": log for index, log in enumerate(logs)})
    assert tables["lifetimes"]["behind_all"].to_list() == behind_all


def joined(index: int) -> Line:
    """The leader has let a task in."""
    text = f"/job:worker/replica:0/task:{index} has connected to coordination service. Incarnation: 7"
    return error(text, level="I")._replace(facts={"connected": f"worker:{index}"})


def replicas(count: int) -> Line:
    """What the strategy prints when it is built."""
    return says(f"Number of replicas in sync: {count}", facts={"replicas": str(count)})


@pytest.mark.parametrize(
    ("logs", "code", "seen", "started", "ended"),
    [
        ({"worker-1.log": STEPS}, None, True, True, "unknown"),
        ({}, "-9", False, True, "signal"),
        ({}, "running", False, True, "running"),
        ({"worker-0.log": [joined(1)]}, None, False, True, "unknown"),
        ({"worker-0.log": [replicas(2), *STEPS]}, None, False, True, "unknown"),
        ({"worker-0.log": [joined(0)]}, None, False, None, "never_started"),
        ({"worker-0.log": [replicas(1), *STEPS]}, None, False, None, "never_started"),
        ({"worker-0.log": STEPS}, None, False, None, "never_started"),
    ],
)
def test_a_worker_without_a_file_may_have_run_all_the_same(
    logs: dict[str, list[Line]], code: str | None, seen: bool, started: bool | None, ended: str
) -> None:
    """Its exit code says so, or a peer that could make no step without it; its log was only not handed over."""
    codes = {"worker:1": code} if code else {}
    tables = derived({"worker-0.log": [says("hello")]} | logs, cluster_spec=CLUSTER, exit_code=codes)
    found = life(tables, "worker:1")
    assert (found["seen"], found["started"], found["ended"]) == (seen, started, ended)
    assert tables["job"]["unseen"].to_list() == [0 if seen else 1]


def test_a_place_needs_a_step_or_a_start() -> None:
    """The last line of a log, alone, does not show that the worker made no step."""
    crash = says("Segmentation fault (core dumped)")
    assert life(derived({"worker-0.log": [crash]}), "worker:0")["place"] is None
    begun = life(derived({"worker-0.log": [server_started(), crash]}), "worker:0")
    assert begun["place"] == "a point before its first step"


def test_a_cluster_that_never_assembled_is_shown_by_the_start_of_a_server() -> None:
    """Not by the last line of the log, such as that of the signal that ended the wait."""
    told = {"sigterm": "yes"}
    caught = says("SIGTERM caught", facts=told, level="W", kind="cpp", origin="preemption_notifier.cc")
    job = derived({"worker-0.log": [server_started(), caught]}, cluster_spec=CLUSTER)["job"]
    assert job.select("never_assembled", "source", "line").row(0) == (True, "worker-0.log", 1)


@pytest.mark.parametrize(
    ("origin", "last", "told"),
    [
        ("acme.train", "E", "over the quota on vol17"),
        ("acme.train", "W", None),
        ("tensorflow", "E", None),
    ],
)
def test_an_error_that_the_program_logged_last(origin: str, last: str, told: str | None) -> None:
    """Only an error of the job's own program counts, and its message comes without time and level."""
    quoted = says(
        "2026-11-21 02:58:31,631 ERROR over the quota on vol17", kind="python", level=last, origin=origin
    )
    assert life(derived({"worker-1.log": [*STEPS, quoted]}), "worker:1")["last_error"] == told


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("12:01:04 learner ended by KeyError: 'auc'", "KeyError: 'auc'"),
        ("stopped: acme.io.QuotaError: vol17", "acme.io.QuotaError: vol17"),
        (
            "rank 1 failed: /out/h.csv; Read-only file system",
            "rank 1 failed: /out/h.csv; Read-only file system",
        ),
        ("failed: [Errno 28] No space left on device", "failed: [Errno 28] No space left on device"),
        ("stopped: UnavailableError: Socket closed", None),
        ("Error: see above", None),
        ("no Exception at all", None),
    ],
)
def test_an_exception_that_the_last_line_names(last: str, told: str | None) -> None:
    """A script may catch it and print a line of its own; what a lost peer causes is no error of its own."""
    assert life(derived({"worker-1.log": [*STEPS, says(last)]}), "worker:1")["last_error"] == told


def test_a_plan_that_ended_in_an_earlier_block_of_a_post_is_no_end() -> None:
    """It was of a run that worked; the later block shows the one that did not."""
    later = says("```", facts={"excerpt_begins": "yes"})
    assert (
        life(derived({"worker-0.log": [fit(20), says("WARNING: slow")]}), "worker:0")["ended"] == "finished"
    )
    assert (
        life(derived({"worker-0.log": [fit(20), later, says("WARNING: slow")]}), "worker:0")["ended"]
        == "unknown"
    )
    assert life(derived({"worker-0.log": [later, fit(20)]}), "worker:0")["ended"] == "finished"
