"""What to do, with the names and paths that the files state: a port, a package, a user, what filled a disk."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer import analyze
from analyzer.render import render

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
RAISED = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 40, in <module>\n    {}\n{}\n'
)
EXHAUSTED = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: "


def _report(run: Path) -> str:
    return " ".join(render(analyze(run).diagnosis.document, "text").split())


@pytest.mark.parametrize(
    ("call", "error", "said", "unsaid"),
    [
        (
            "model.fit(ds)",
            f"{EXHAUSTED}/scratch/c_0.data-00000-of-00001.tempstate9; No space left on device\n"
            "\t [[{{node IteratorGetNext}}]]",
            "Dataset.cache(FILE)",
            "CheckpointManager",
        ),
        (
            "model.save_weights(path)",
            f"{EXHAUSTED}/ckpt/m_temp/part-00000-of-00001; No space left on device [Op:SaveV2]",
            "CheckpointManager",
            "Dataset.cache",
        ),
        (
            "writer.flush()",
            f"{EXHAUSTED}/logs/events.out.tfevents.1766400000.n1; No space left on device",
            "event files for TensorBoard did not fit (/logs/events.out.tfevents.1766400000.n1)",
            "CheckpointManager",
        ),
        (
            "rows.dump(path)",
            "OSError: [Errno 28] No space left on device",
            "Find out what fills it",
            "Manager",
        ),
    ],
    ids=["cache", "checkpoint", "event files", "unknown"],
)
def test_a_full_disk_is_cleared_of_what_was_written(
    call: str, error: str, said: str, unsaid: str, make_run: MakeRun
) -> None:
    """Nothing is advised about checkpoints where no checkpoint was written."""
    well = "step 12 loss 0.5\n"
    report = _report(
        make_run(
            {"worker-0.log": well, "worker-1.log": well, "worker-2.log": well + RAISED.format(call, error)}
        )
    )
    assert "resource.disk_full" in report
    assert said in report
    assert unsaid not in report


@pytest.mark.parametrize(
    ("module", "said"),
    [("tensorflow_addons", "pip show -f tensorflow_addons"), ("tensorflow.nowhere", "")],
)
def test_a_missing_module_is_named_in_the_command(module: str, said: str, make_run: MakeRun) -> None:
    """A part of a package is none; the owner is that of the image."""
    error = f"ModuleNotFoundError: No module named '{module}'"
    report = _report(make_run({"worker-0.log": RAISED.format(f"import {module}", error)}))
    assert said in report
    assert said or "pip show" not in report


def test_a_taken_port_is_that_of_the_cluster_in_a_file(make_run: MakeRun) -> None:
    """No line of the log states it; what TensorFlow's own call raised is no error of the user's code."""
    cluster = '{"cluster": {"worker": ["n1:2222", "n2:2223"]}, "task": {"type": "worker", "index": 1}}'
    error = "tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server"
    log = (
        "2026-11-21 01:52:40.044190: E grpc_server_lib.cc:600] No address added out of total 1 resolved\n"
        "2026-11-21 01:52:40.044195: E tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:600] UNKNOWN: "
        "Could not start gRPC server\n"
    )
    call = "strategy = tf.distribute.MultiWorkerMirroredStrategy()"
    files = {"worker-1/TF_CONFIG": cluster, "worker-1/train.log": log + RAISED.format(call, error)}
    report = _report(make_run(files))
    assert "sport = :2223" in report
    assert "Python code raised an exception" not in report


def test_a_cancelled_job_names_the_user_and_the_time(make_run: MakeRun) -> None:
    """From Slurm's accounting, and from what slurmstepd printed of a step."""
    ended = "slurmstepd: error: *** STEP 7801.0 ON u1 CANCELLED AT 2026-11-12T10:06:30 ***\n"
    files = {
        "worker-0.log": f"step 1 loss 0.5\nstep 2 loss 0.4\n{ended}",
        "sacct.txt": "JobID|State|ExitCode\n7801|CANCELLED by 20017|0:0\n7801.0|CANCELLED|0:15\n",
    }
    report = _report(make_run(files))
    assert "the user with the ID 20017 cancelled it" in report
    assert "2026-11-12 10:06:30" in report
    without = _report(make_run({**files, "sacct.txt": "JobID|State|ExitCode\n7801|CANCELLED|0:0\n"}))
    assert "with the ID" not in without


def test_a_call_that_was_not_answered_is_told_with_caller_and_task(make_run: MakeRun) -> None:
    """The line that names them is no message to quote."""
    error = (
        "tensorflow.python.framework.errors_impl.DeadlineExceededError: Deadline Exceeded\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:0 while calling "
        "/tensorflow.CoordinationService/RegisterTask:"
    )
    log = "2026-11-21 01:52:40.044195: I grpc_server_lib.cc:457] Started server with target: grpc://n2:2222\n"
    document = analyze(
        make_run({"worker-1.log": log + RAISED.format("tf.distribute.MultiWorkerMirroredStrategy()", error)})
    ).diagnosis.document
    assert document["summary"].startswith("worker:1 could not register with worker:0")
    assert "Additional GRPC" not in document["summary"]
