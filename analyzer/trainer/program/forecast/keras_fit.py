# ruff: noqa: ANN401, ARG002
"""Trains with Keras' `fit`."""

from __future__ import annotations

import argparse
import time
from typing import Any, List  # noqa: UP035 (Python 3.8 runs this file too)

import tensorflow as tf

from .data import distribute
from .hooks import Schedule, Statistics, stop_requested
from .model import LocalLoss, build_model, loss_function
from .reporter import Reporter


class PerStep(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Keras callback that refreshes statistics, sets the learning rate and reports the loss of each step."""

    def __init__(self, args: argparse.Namespace, reporter: Reporter | None, local: Any) -> None:
        super().__init__()
        self.schedule, self.statistics = (
            Schedule(args.schedule),
            Statistics(args.statistics, args.refresh_every),
        )
        self.reporter, self.target, self.local = reporter, args.target_loss, local
        self.step, self.started = 0, 0.0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Exit if a stop is requested; refresh the statistics and set the learning rate."""
        stop_requested()
        self.step += 1
        self.started = time.time()
        self.statistics.refresh(self.step)
        tf.keras.backend.set_value(self.model.optimizer.learning_rate, self.schedule.rate(self.step))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Report the loss, and stop the training once it is below the target."""
        loss = float(logs["loss"])
        if self.reporter:
            self.reporter.step(self.step, loss, self.local.own(), time.time() - self.started)
        if loss < self.target:
            self.model.stop_training = True


def fit_callbacks(args: argparse.Namespace, reporter: Reporter | None, local: LocalLoss) -> list[Any]:
    """Return the Keras callbacks: progress and, if requested, TensorBoard, checkpoints and backup."""
    callbacks: List[Any] = [PerStep(args, reporter, local)]  # noqa: UP006 (Python 3.8)
    if args.logdir:
        profile = (args.profile, args.profile + 3) if args.profile else 0
        board = tf.keras.callbacks.TensorBoard(
            args.logdir, write_graph=False, update_freq=1, profile_batch=profile
        )
        callbacks.append(board)
    if args.checkpoint_every:
        path = args.checkpoints + "/weights-{epoch:02d}"
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True, verbose=1))
    if args.backup:
        backup = getattr(tf.keras.callbacks, "BackupAndRestore", None)
        callbacks.append((backup or tf.keras.callbacks.experimental.BackupAndRestore)(args.backup))
    return callbacks


def fit(args: argparse.Namespace, strategy: Any, reporter: Reporter) -> float:
    """Train with Keras' `fit`, and return the loss of the last epoch."""
    with strategy.scope():
        model = build_model(args)
        local = LocalLoss(strategy, loss_function(args))
        loss = "mse" if not args.classes else tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        if args.report != "loss":
            loss = local
        model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss=loss)
    if args.restore:
        model.load_weights(args.restore)
    verbose = {"bar": 1, "epoch": 2}.get(args.log_style, 0)
    validation = {}
    if args.evaluate_every:
        validation = {"validation_data": distribute(args, strategy), "validation_steps": args.evaluate_every}
    history = model.fit(
        distribute(args, strategy),
        epochs=args.epochs,
        steps_per_epoch=None if args.until_end else args.steps,
        verbose=verbose,
        callbacks=fit_callbacks(args, None if verbose else reporter, local),
        **validation,
    )
    return float(history.history["loss"][-1])
