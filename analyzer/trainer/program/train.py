# ruff: noqa: ANN401, ARG002, T201
"""Train the load forecast on every worker of the cluster that TF_CONFIG names."""

from __future__ import annotations

import argparse
import csv
import fcntl
import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any, Iterator  # noqa: UP035 (Python 3.8 runs this file too)

import tensorflow as tf

WINDOW = 64
log = logging.getLogger("train")


def read_rows(paths: list[Path]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the sensor window and the load of every row."""
    for path in paths:
        with path.open(newline="") as stream:
            for row in csv.reader(stream):
                values = [float(cell) for cell in row]
                yield values[:WINDOW], values[WINDOW:]


def make_dataset(args: argparse.Namespace, context: Any) -> Any:
    """Batches of this worker's part files, for ever."""
    paths = sorted(Path(args.data).glob("part-*.csv"))
    if args.shard == "file":
        paths = paths[context.input_pipeline_id :: context.num_input_pipelines]
    signature = (tf.TensorSpec([WINDOW], tf.float32), tf.TensorSpec([1], tf.float32))
    rows = tf.data.Dataset.from_generator(lambda: read_rows(paths), output_signature=signature)
    return rows.repeat().batch(args.batch_size, drop_remainder=True)


def build_model(width: int) -> Any:
    """Two convolutions over the window, then the load."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Reshape((WINDOW, 1), input_shape=(WINDOW,)),
            layers.Conv1D(width, 9, activation="relu", padding="same"),
            layers.Conv1D(width, 9, activation="relu", padding="same"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1),
        ]
    )


class Schedule:
    """The learning rate of every step, one `step,rate` a line."""

    def __init__(self, path: str) -> None:
        self.lines = Path(path).read_text().splitlines()

    def rate(self, step: int) -> float:
        """Return the learning rate of a step that counts from one."""
        _, rate = self.lines[step - 1].split(",")
        return float(rate)


class Statistics:
    """Running statistics that the jobs of one machine share, under a lock."""

    def __init__(self, folder: str, every: int) -> None:
        self.folder, self.every = Path(folder), every

    def refresh(self, step: int) -> None:
        """Read the statistics again when their turn has come."""
        if step % self.every:
            return
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.values: Any = json.loads((self.folder / "statistics.json").read_text())


class Reporter:
    """Tells the progress in the manner that was asked for."""

    def __init__(self, style: str, which: str) -> None:
        self.style, self.which = style, which

    def say(self, message: str) -> None:
        """One line, as a sentence."""
        if self.style == "logging":
            log.info(message)
        else:
            print(message)

    def batch(self, step: int, size: int) -> None:
        """Say that a batch has been read."""
        self.say(f"step {step}: batch of {size} ready")

    def step(self, step: int, loss: float, local: float, seconds: float) -> None:
        """Say what a step gave."""
        losses = {"loss": loss, "local_loss": local}
        if self.which != "both":
            losses = {key: losses[key] for key in losses if key == self.which}
        joint = "=" if self.style == "key_value" else " "
        told = " ".join(f"{key}{joint}{value:.4f}" for key, value in losses.items())
        self.say(f"step{joint}{step} {told} time{joint}{seconds:.3f}")


def make_strategy(communication: str) -> Any:
    """One replica group over all workers."""
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=getattr(tf.distribute.experimental.CommunicationImplementation, communication.upper())
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


class PerStep(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """What happens around each step of `fit`."""

    def __init__(
        self, schedule: Schedule, statistics: Statistics, reporter: Reporter | None, epoch_steps: int
    ) -> None:
        super().__init__()
        self.schedule, self.statistics, self.reporter = schedule, statistics, reporter
        self.epoch_steps, self.step, self.started = epoch_steps, 0, 0.0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Refresh the statistics and set the learning rate."""
        self.step += 1
        self.started = time.time()
        self.statistics.refresh(self.step)
        tf.keras.backend.set_value(self.model.optimizer.learning_rate, self.schedule.rate(self.step))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Report the loss."""
        if self.reporter:
            loss = float(logs["loss"])
            self.reporter.step(self.step, loss, loss, time.time() - self.started)


def fit(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train with Keras; return the last loss."""
    with strategy.scope():
        model = build_model(args.width)
        model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
    verbose = {"bar": 1, "epoch": 2}.get(args.log_style, 0)
    schedule, statistics = Schedule(args.schedule), Statistics(args.statistics, args.refresh_every)
    callbacks = [PerStep(schedule, statistics, None if verbose else reporter, args.steps)]
    if args.logdir:
        profile = (args.profile, args.profile + 3) if args.profile else 0
        board = tf.keras.callbacks.TensorBoard(
            args.logdir, write_graph=False, update_freq=1, profile_batch=profile
        )
        callbacks.append(board)
    batches = strategy.distribute_datasets_from_function(lambda context: make_dataset(args, context))
    history = model.fit(
        batches, epochs=args.epochs, steps_per_epoch=args.steps, verbose=verbose, callbacks=callbacks
    )
    return float(history.history["loss"][-1])


def make_step(args: argparse.Namespace, strategy: Any) -> tuple[Any, Any]:
    """Return the optimizer and the function of one step."""
    with strategy.scope():
        model = build_model(args.width)
        optimizer = tf.keras.optimizers.SGD(0.01)

    def replica_step(windows: Any, loads: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(windows, training=True) - loads))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # noqa: B905 (Python 3.8)
        return loss

    def train_step(batch: Any) -> tuple[Any, Any]:
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None), losses

    return optimizer, tf.function(train_step)


def trace(args: argparse.Namespace, step: int) -> None:
    """Profile three steps."""
    if args.profile and step == args.profile:
        tf.profiler.experimental.start(args.logdir)
    if args.profile and step == args.profile + 3:
        tf.profiler.experimental.stop()


def custom_loop(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train step by step; return the last loss."""
    optimizer, train_step = make_step(args, strategy)
    schedule, statistics = Schedule(args.schedule), Statistics(args.statistics, args.refresh_every)
    writer = tf.summary.create_file_writer(args.logdir) if args.logdir else tf.summary.create_noop_writer()
    batches = iter(strategy.distribute_datasets_from_function(lambda context: make_dataset(args, context)))
    mean = float("nan")
    with writer.as_default():
        for step in range(1, args.epochs * args.steps + 1):
            started = time.time()
            trace(args, step)
            statistics.refresh(step)
            batch = next(batches)
            if args.log_batches:
                reporter.batch(step, args.batch_size)
            tf.keras.backend.set_value(optimizer.learning_rate, schedule.rate(step))
            loss, losses = train_step(batch)
            mean, local = float(loss), float(strategy.experimental_local_results(losses)[0])
            tf.summary.scalar("loss", mean, step=step)
            reporter.step(step, mean, local, time.time() - started)
    return mean


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["fit", "custom"], default="fit")
    parser.add_argument("--data", default="data")
    parser.add_argument("--shard", choices=["file", "none"], default="file")
    parser.add_argument("--schedule", default="config/schedule.csv")
    parser.add_argument("--statistics", default="statistics")
    parser.add_argument("--refresh-every", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="steps of an epoch")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--logdir", default="")
    parser.add_argument("--profile", type=int, default=0, help="first step to profile")
    parser.add_argument("--log-style", default="plain")
    parser.add_argument("--report", choices=["loss", "local_loss", "both"], default="loss")
    parser.add_argument("--log-batches", action="store_true")
    parser.add_argument("--communication", choices=["auto", "ring", "nccl"], default="auto")
    return parser.parse_args()


def main() -> None:
    """Train, and say how it went."""
    args = parse_args()
    if args.log_style == "logging":
        line = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        logging.basicConfig(level=logging.INFO, stream=sys.stdout, format=line)
    reporter = Reporter(args.log_style, args.report)
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    reporter.say(f"TensorFlow {tf.__version__}, task {task['type']}:{task['index']}")
    strategy = make_strategy(args.communication)
    reporter.say(f"replicas in sync: {strategy.num_replicas_in_sync}")
    tf.random.set_seed(args.seed)
    loss = {"fit": fit, "custom": custom_loop}[args.mode](args, strategy, reporter)
    reporter.say(f"training complete: {args.epochs * args.steps} steps, final loss {loss:.4f}")


if __name__ == "__main__":
    main()
