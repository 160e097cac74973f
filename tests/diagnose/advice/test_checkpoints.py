"""From which checkpoint a job can go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.diagnose.advice.checkpoints import last_checkpoint, was_found_damaged
from analyzer.model.run import Tables
from analyzer.pipeline import analyze
from tests.recordings import Recordings, sample_run_named

TablesOf = Callable[[Mapping[str, str]], Tables]
MakeRun = Callable[[Mapping[str, str]], Path]
EPOCH = "Epoch {0}/9\n\nEpoch {0}: saving model to {1}/weights-{0:02}\n20/20 - 1s - loss: 0.5\n"
FULL = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    model.save(path)\n'
    "OSError: [Errno 28] No space left on device\n"
)


def saving(folder: str, epochs: int = 3) -> str:
    """What a `ModelCheckpoint` prints."""
    return "".join(EPOCH.format(epoch, folder) for epoch in range(1, epochs + 1))


@pytest.mark.parametrize("folder", ["c/workertemp_1", "c/tmp_worker_1"])
def test_a_temporary_directory_of_a_non_leader_is_no_checkpoint(folder: str, tables_of: TablesOf) -> None:
    """Keras and Estimator delete it again."""
    tables = tables_of({"worker-0.log": saving("ckpt"), "worker-1.log": saving(folder, 4)})
    assert last_checkpoint(tables) == "ckpt/weights-03"
    assert last_checkpoint(tables_of({"worker-0.log": "hello\n", "worker-1.log": saving(folder)})) is None


@pytest.mark.parametrize(
    "name", ["healthy-pauses-fit-tf213", "healthy-pauses-fit-tf215", "disk-full-fit-tf24"]
)
def test_recorded_runs_resume_from_what_the_leader_wrote(name: str, recordings: Recordings) -> None:
    """Not from the place of another worker, and not from one whose writing failed."""
    document = recordings.document(sample_run_named(name))
    assert "workertemp" not in document["action"]["resume_from"]


def test_what_the_leader_wrote_is_resumed_from(tables_of: TablesOf) -> None:
    """Whatever others call their own; where it wrote nothing, theirs are all there is."""
    others = {"worker-1.log": saving("ckpt/of_worker_1", 4)}
    assert last_checkpoint(tables_of({"worker-0.log": saving("ckpt"), **others})) == "ckpt/weights-03"
    alone = last_checkpoint(tables_of({"worker-0.log": "step 1 loss 0.5\n", **others}))
    assert alone == "ckpt/of_worker_1/weights-04"


def test_one_whose_writing_failed_is_not_resumed_from(tables_of: TablesOf) -> None:
    """Keras says `saving` before it saves."""
    assert last_checkpoint(tables_of({"worker-0.log": saving("ckpt") + FULL})) == "ckpt/weights-02"


def test_one_that_is_still_being_written_is_not_resumed_from(tables_of: TablesOf) -> None:
    """The process may have ended within the save; any line that follows shows that it did not."""
    log = "step 2 loss 0.5\nsaved checkpoint c/ckpt-2\nstep 3 loss 0.5\nsaving checkpoint c/ckpt-3 ...\n"
    assert last_checkpoint(tables_of({"worker-0.log": log})) == "c/ckpt-2"
    assert last_checkpoint(tables_of({"worker-0.log": log + "step 4 loss 0.5\n"})) == "c/ckpt-3"
    said_after = log.replace("saving", "saved").replace(" ...", "")
    assert last_checkpoint(tables_of({"worker-0.log": said_after})) == "c/ckpt-3"


def test_one_that_a_worker_found_damaged_is_in_doubt(tables_of: TablesOf) -> None:
    """A worker that lost a peer restores the last checkpoint, and cannot read it."""
    restored = (
        "INFO:tensorflow:Restoring parameters from /ckpt/model.ckpt-40\n"
        'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    sess.run(restore)\n'
        "tensorflow.python.framework.errors_impl.DataLossError: file is too short to be an sstable\n"
        "\t [[{{node save/RestoreV2}}]]\n"
    )
    saved = "INFO:tensorflow:Saving checkpoints for 40 into /ckpt/model.ckpt-40.\nstep 60 loss 0.5\n"
    tables = tables_of({"worker-0.log": saved, "worker-1.log": restored})
    assert last_checkpoint(tables) == "/ckpt/model.ckpt-40"
    assert was_found_damaged("/ckpt/model.ckpt-40", tables)
    assert not was_found_damaged("/ckpt/model.ckpt-20", tables)


def test_the_savers_of_a_session_state_the_step_before_the_path(tables_of: TablesOf) -> None:
    """TensorFlow adds it to the name; an evaluator that restores an earlier one later does not count."""
    saves = "".join(
        f"INFO:tensorflow:Saving checkpoints for {n} into /ckpt/model.ckpt.\n" for n in (0, 40, 150)
    )
    restores = "INFO:tensorflow:Restoring parameters from /ckpt/model.ckpt-0\n"
    tables = tables_of({"chief-0.log": saves + "step 151 loss 0.5\n", "evaluator-0.log": restores})
    assert last_checkpoint(tables) == "/ckpt/model.ckpt-150"
    cut_off = tables_of({"chief-0.log": saves, "evaluator-0.log": restores})
    assert last_checkpoint(cut_off) == "/ckpt/model.ckpt-40"


def test_files_tell_where_no_log_does(tables_of: TablesOf) -> None:
    """The highest number that has an index."""
    files = {f"checkpoints/ckpt-{n}.index": "x" for n in (9, 10, 8)} | {"checkpoints/ckpt-11.data-0": "x"}
    assert last_checkpoint(tables_of(files | {"worker-0.log": "step 1 loss 0.5\n"})) == "checkpoints/ckpt-10"


@pytest.mark.runs
def test_a_job_that_still_hangs_is_asked_before_it_is_killed(make_run: MakeRun) -> None:
    """First the worker that the others wait for; where no rule knows, the page says so too."""
    run = make_run(
        {
            "worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\nValue of the lease is odd\n",
            "worker-1.log": "step 1 loss 0.5\n",
            "exit_codes.txt": "worker-0 3\nworker-1 running\n",
        }
    )
    document = analyze([run]).document
    asked = [step for step in document["next"] if "py-spy dump" in (step["command"] or "")]
    assert document["cause"] == "unknown", document["rule"]
    assert "worker:1" in asked[0]["text"]
