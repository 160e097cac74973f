"""TensorFlow computes and prints the same with the hook; the recording says what it did."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from recorded import RECORDER, Recorder, Recording

pytestmark = [pytest.mark.tensorflow, pytest.mark.processes, pytest.mark.xdist_group("tensorflow")]
PROGRAM = str(Path(__file__).with_name("programs.py"))
KINDS = {"loop": 0, "fit": 0, "eager": 0, "fails": 1, "exits": 4, "workers": 0}
"""Programs and the exit code of each."""


@lru_cache(maxsize=None)
def without(kind: str) -> tuple[int, bytes, bytes]:
    """Return status, output and error output of a program that nobody records."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, PROGRAM, kind]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=240, check=False)
    return done.returncode, done.stdout, done.stderr


def settled(text: bytes) -> list[bytes]:
    """Return error output without TensorFlow's own lines, which have times, and numbers in generated names."""
    text = re.sub(rb"(__autograph_generated_file|__inference_step_)\w+", rb"\1", text)
    return [
        line
        for line in text.splitlines()
        if not line.startswith((b"I0000", b"E0000", b"W0000", b"WARNING: All"))
    ]


@pytest.mark.timeout(500)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_changes(recorder: Recorder, kind: str) -> None:
    """Losses, weights, random states, streams, tracebacks and the status are the same with all parts on."""
    options = ["--check-weights", "5"] + ["--fingerprint-data", "--check-finite"] * (kind in ("loop", "fit"))
    done = recorder.run(sys.executable, PROGRAM, kind, options=options)
    assert recorder.recording().events("process")
    status, output, errors = without(kind)
    assert (done.returncode, done.stdout) == (status, output)
    assert settled(done.stderr) == settled(errors)
    assert status == KINDS[kind]


@pytest.mark.timeout(300)
def test_a_custom_loop_is_described(recorder: Recorder) -> None:
    """Seeds, dataset, initial and later weights, digests of batches, and the number of steps."""
    recorder.run(sys.executable, PROGRAM, "loop", options=["--check-weights", "10", "--fingerprint-data"])
    recording = recorder.recording()
    recording.check()
    seeds = {row["function"]: row["value"] for row in recording.events("seed")}
    assert seeds == {"tf.random.set_seed": 7, "random.seed": 8, "numpy.random.seed": 9}
    assert recording.last("dataset")["auto_shard_policy"] == "AUTO"
    sums = {row["step"]: row["variables"][0]["crc32"] for row in recording.events("weights")}
    assert list(sums) == [0, 10, 20, 30]
    assert len(set(sums.values())) == 4
    assert len({row["sha256"] for row in recording.events("batch")}) == 8
    assert recording.last("finished")["steps"] == 30
    assert recording.last("sample")["progress"][0]["steps"] == 30
    assert recording.last("seed")["at"]["function"] == "main"


PIPELINES = """
import json, sys
import numpy as np, tensorflow as tf
from mwms_recorder.inside.data import described
def made(seed=3, rows=0, shard=0, scale=2.0):
    values = np.random.RandomState(rows).rand(32, 4).astype("float32")
    dataset = tf.data.Dataset.from_tensor_slices(values).shuffle(32, seed=seed)
    return dataset.map(lambda value: value * scale).shard(2, shard).batch(4)
other = dict(seed=dict(seed=4), rows=dict(rows=1), shard=dict(shard=1), map=dict(scale=3.0))
found = {name: described(tf, made(**changed)) for name, changed in other.items()}
found.update(first=described(tf, made()), unseeded=described(tf, made(seed=None)))
python = tf.data.Dataset.from_generator(lambda: iter([1]), output_types=tf.int32)
tf.io.write_file(sys.argv[1], "a\\n")
found.update(python=described(tf, python), files=described(tf, tf.data.TextLineDataset(sys.argv[1])))
again = made()
before = [batch.numpy().tolist() for batch in again]
found.update(same=described(tf, again))
print(json.dumps([found, before == [batch.numpy().tolist() for batch in made()]]))
"""


@pytest.mark.timeout(300)
def test_a_pipeline_is_told_from_another_without_reading_it(tmp_path: Path) -> None:
    """In another process, too; what calls Python code has no digest."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", PIPELINES, str(tmp_path / "lines.txt")],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(RECORDER)},
        )
        for _ in range(2)
    ]
    (found, unread), (again, _) = (json.loads(run.stdout.splitlines()[-1]) for run in runs)
    assert unread
    assert found == again
    digests = {name: row.get("graph_sha256") for name, row in found.items()}
    assert digests["first"] == digests["same"]
    assert digests.pop("python") is None
    assert len({*digests.values()}) == len(digests) - 1
    assert [name for name, row in found.items() if row["unseeded"]] == ["unseeded"]
    assert [name for name, row in found.items() if row["reads_files"]] == ["files"]


REPLICAS = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
dataset = tf.data.Dataset.range(16).batch(4)
for batch in strategy.experimental_distribute_dataset(dataset):
    assert isinstance(batch, tf.distribute.DistributedValues)
"""


@pytest.mark.timeout(300)
def test_batches_of_several_replicas_have_digests_outside_of_the_scope(recorder: Recorder) -> None:
    """A distributed iterator gives a tensor for each replica, and few loops run inside the scope."""
    recorder.run(sys.executable, "-c", REPLICAS, options=["--fingerprint-data"])
    recording = recorder.recording()
    assert recording.events("recorder_failed") == []
    assert len({row["sha256"] for row in recording.events("batch")}) == 4


NOT_FINITE = """
import sys
import numpy as np, tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
rows = np.random.RandomState(1).rand(160, 4).astype("float32")
if sys.argv[2] == "bad":
    rows[107, 2] = np.inf
data = tf.data.Dataset.from_tensor_slices((rows, rows.sum(1, keepdims=True))).batch(8)
if sys.argv[1] == "loop":
    for batch in strategy.experimental_distribute_dataset(data):
        pass
else:
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
    model.fit(data.repeat(), epochs=3, steps_per_epoch=10, verbose=0)
"""


FITS = """
import sys
import numpy as np, tensorflow as tf
rows = np.ones((160, 4), "float32")
data = tf.data.Dataset.from_tensor_slices((rows, rows.sum(1, keepdims=True))).batch(8).repeat()
doubled = tf.function(lambda value: 2 * value)
class Own(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch % 3:
            doubled(tf.constant(1.0))
def fit(steps, callbacks=(), **options):
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    model.fit(data, epochs=3, steps_per_epoch=steps, verbose=0, validation_data=data, validation_steps=2, callbacks=callbacks)
fit(10)
fit(7, run_eagerly=True)
fit(1)
fit(10, [Own()])
fit(4, [Own()], run_eagerly=True)
fit(8, steps_per_execution=2)
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("options", [[], ["--check-finite"]], ids=" ".join)
def test_batches_of_any_fit_are_counted_once(recorder: Recorder, options: list[str]) -> None:
    """Compiled or not, of several models, with functions of the user and evaluations in between."""
    recorder.run(sys.executable, "-c", FITS, options=options)
    recording = recorder.recording()
    assert recording.events("recorder_failed") == []
    assert recording.last("finished")["steps"] == 3 * (10 + 7 + 1 + 10 + 4 + 8 // 2)


def checked_for_finite_values(recorder: Recorder, loop: str, kind: str) -> Recording:
    """Recording of `NOT_FINITE`, in which no part of the recorder failed."""
    recorder.run(sys.executable, "-c", NOT_FINITE, loop, kind, options=["--check-finite"])
    recording = recorder.recording()
    recording.check()
    assert recording.events("recorder_failed") == []
    return recording


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("kind", "place", "value"), [("bad", (2, 4, 14), "nan"), ("good", (3, 10, 30), "finite")]
)
def test_the_own_loss_under_fit_is_read_until_it_is_not_finite(
    recorder: Recorder, kind: str, place: tuple[int, ...], value: str
) -> None:
    """Of either replica, with the batch; at the end where it stays finite."""
    (loss,) = checked_for_finite_values(recorder, "fit", kind).events("own_loss")
    assert (loss["epoch"], loss["batch"], loss["step"]) == place
    assert loss["value"] == value


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "bad"), [("bad", [(0, 13, "inf")]), ("good", [])])
def test_the_first_batch_that_is_not_finite_is_named(
    recorder: Recorder, kind: str, bad: list[tuple[int, int, str]]
) -> None:
    """Of all batches, not of the first eight; of all replicas."""
    recording = checked_for_finite_values(recorder, "loop", kind)
    found = [(row["iterator"], row["index"], row["value"]) for row in recording.events("nonfinite_batch")]
    assert found == bad
    assert recording.events("batch") == []


SAVES = """
import sys
import tensorflow as tf
value = tf.Variable([1.0, 2.0])
checkpoint, path = tf.train.Checkpoint(value=value), sys.argv[1]
data = open(path)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(value * value)
    value.assign_sub(0.1 * tape.gradient(loss, value))
for number in range(1, 5):
    step()
    if number % 2 == 0:
        checkpoint.write(path + ".checkpoint")
tf.train.CheckpointManager(checkpoint, path + ".kept", 2).save()
raise ValueError("the end")
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("options", [(), ("--check-weights", "2")])
def test_weights_are_checked_at_saves_and_files_at_exceptions(
    recorder: Recorder, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """One save may call another; what it saved is what was checked at the step before it."""
    path = tmp_path / "rows.csv"
    path.write_text("1")
    read_by_the_first_sample = ("sh", "-c", 'exec "$@" </etc/passwd', "sh")
    program = (sys.executable, "-c", SAVES, str(path))
    recorder.run(*read_by_the_first_sample, *program, options=["--interval", "60", *options])
    recording = recorder.recording()
    recording.check()
    weights = recording.events("weights")
    saved = {row["step"]: row["variables"][0]["crc32"] for row in weights if "saved" in row}
    checked = {row["step"]: row["variables"][0]["crc32"] for row in weights if "saved" not in row}
    assert saved == {step: crc32 for step, crc32 in checked.items() if step}
    assert list(checked) == ([0, 2, 4] if options else [0])
    assert len([row for row in weights if "saved" in row]) == (3 if options else 0)
    assert str(path) in recording.last("files")["opened"]
    assert recording.events("recorder_failed") == []


@pytest.mark.timeout(300)
def test_an_exception_and_an_exit_are_described(recorder: Recorder) -> None:
    """An exception is recorded with its frames, a call of `sys.exit` with file and line."""
    recorder.run(sys.executable, PROGRAM, "fails", options=["--task", "fails"])
    error = recorder.recording("fails").last("exception")
    assert "the loss" in error["message"]
    assert any(frame["function"] == "run" for frame in error["frames"])
    recorder.run(sys.executable, PROGRAM, "exits", options=["--task", "exits"])
    leaving = Recorder(recorder.out).recording("exits").events("exit")
    assert leaving[-1]["function"] == "sys.exit"
    assert leaving[-1]["at"]["function"] == "main"


@pytest.mark.timeout(300)
def test_a_hang_is_noticed_with_the_frame_that_holds_it(recorder: Recorder) -> None:
    """Both captures show the lock; the command is told nothing, and its reader one line."""
    process = recorder.start(sys.executable, PROGRAM, "hangs", options=["--stall", "3", "--interval", "1"])
    (stall,) = recorder.until("stall", lambda row: row["steps"] > 0, count=1, seconds=200)
    stacks = recorder.until("stacks", lambda row: row["time"] > stall["time"], count=2, seconds=60)
    process.terminate()
    process.wait(60)
    for capture in stacks:
        main = next(thread for thread in capture["threads"] if thread["main"])
        assert main["frames"][-1]["function"] == "wait_for_ever"
    assert (stall["steps"], stall["inside"], stall["phase"]) == (16, False, "other")
    assert process.stderr
    assert process.stderr.read().count(b"no training step") == 1
