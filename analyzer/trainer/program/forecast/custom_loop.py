# ruff: noqa: ANN401
"""Trains in a custom loop, without Keras' `fit`."""

from __future__ import annotations

import argparse
import threading
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

from .data import distribute, make_dataset, part_files
from .device_work import DeviceWork
from .hooks import Schedule, Statistics, stop_requested
from .model import build_model, loss_function, own_value
from .reporter import Reporter


def make_step(args: argparse.Namespace, strategy: Any) -> tuple[Any, Any, Any, Any]:
    """Return the model, the optimizer, the step function, and the variable with the gradients' norm."""
    with strategy.scope():
        model = build_model(args)
        optimizer = tf.keras.optimizers.SGD(0.01)
        norm = own_value()
    row_loss = loss_function(args)

    def replica_step(windows: Any, loads: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(row_loss(loads, model(windows, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # noqa: B905 (Python 3.8)
        if args.watch_gradients:
            norm.assign(tf.linalg.global_norm(gradients))
        return loss

    def train_step(batch: Any) -> tuple[Any, Any]:
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None), losses

    return model, optimizer, tf.function(train_step), norm


class Keeper:
    """Saves and restores checkpoints."""

    def __init__(self, args: argparse.Namespace, strategy: Any, **parts: Any) -> None:
        self.checkpoint = tf.train.Checkpoint(**parts)
        self.every = args.checkpoint_every
        self.mine = not (args.save_on == "chief" and strategy.cluster_resolver.task_id)
        self.prefix, self.progress = args.checkpoints, args.progress
        if args.restore:
            self.checkpoint.read(args.restore).assert_existing_objects_matched()

    def restore(self) -> int:
        """Restore the checkpoint of an earlier attempt, and return its step; 0 without one."""
        if not self.progress or not Path(self.progress).exists():
            return 0
        if Path(f"{self.prefix}/latest.index").exists():
            self.checkpoint.read(f"{self.prefix}/latest")
        return int(Path(self.progress).read_text())

    def save(self, step: int) -> None:
        """Write a checkpoint every `every` steps, unless only the chief saves and this is another worker."""
        if not (self.every and step % self.every == 0 and self.mine):
            return
        self.checkpoint.write(f"{self.prefix}/{'latest' if self.progress else f'step-{step:05d}'}")
        if self.progress:
            Path(self.progress).write_text(str(step))


def evaluate(args: argparse.Namespace, model: Any) -> float:
    """Return this worker's mean loss over 60 batches of the data files."""
    row_loss = loss_function(args)
    batches = make_dataset(args, part_files(args)).take(60)
    return float(sum(tf.reduce_mean(row_loss(loads, model(windows))) for windows, loads in batches)) / 60


def trace(args: argparse.Namespace, step: int) -> None:
    """Profile three steps from step `--profile` on or, with `--profile-for`, that many seconds."""
    if args.profile and step == args.profile:
        tf.profiler.experimental.start(args.logdir)
        if args.profile_for:
            threading.Timer(args.profile_for, tf.profiler.experimental.stop).start()
    if args.profile and step == args.profile + 3 and not args.profile_for:
        tf.profiler.experimental.stop()


def custom_loop(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train step by step until the last step or the target loss, and return the last loss."""
    model, optimizer, train_step, norm = make_step(args, strategy)
    keeper = Keeper(args, strategy, model=model, optimizer=optimizer)
    schedule, statistics = Schedule(args.schedule), Statistics(args.statistics, args.refresh_every)
    writer = tf.summary.create_file_writer(args.logdir) if args.logdir else tf.summary.create_noop_writer()
    device_work = DeviceWork(args, strategy)
    batches = iter(distribute(args, strategy))
    mean, done = float("nan"), keeper.restore()
    if done:
        reporter.say(f"going on after step {done}")
    with writer.as_default():
        for step in range(done + 1, args.epochs * args.steps + 1):
            stop_requested()
            started = time.time()
            trace(args, step)
            statistics.refresh(step)
            try:
                batch = next(batches)
            except StopIteration:
                break
            if args.log_batches:
                reporter.batch(step, args.batch_size)
            tf.keras.backend.set_value(optimizer.learning_rate, schedule.rate(step))
            batch = device_work.before(step, batch)
            loss, losses = train_step(batch)
            mean, local = float(loss), float(strategy.experimental_local_results(losses)[0])
            tf.summary.scalar("loss", mean, step=step)
            if args.watch_gradients:
                tf.summary.scalar("learning_rate", schedule.rate(step), step=step)
                own = strategy.experimental_local_results(norm)[0]
                tf.summary.scalar("gradient_norm", own, step=step)
            reporter.step(step, mean, local, time.time() - started)
            keeper.save(step)
            if args.evaluate_every and step % args.evaluate_every == 0:
                reporter.say(f"evaluation after step {step}: loss {evaluate(args, model):.4f}")
            if local < args.target_loss:
                reporter.say(f"target loss reached after step {step}")
                break
    return mean
