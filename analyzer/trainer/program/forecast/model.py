# ruff: noqa: ANN401
"""Builds the model, its loss, and per-worker variables."""

from __future__ import annotations

import argparse
from typing import Any, List  # noqa: UP035 (Python 3.8 runs this file too)

import tensorflow as tf

from .data import WINDOW


def build_model(args: argparse.Namespace) -> Any:
    """Return a convolutional model that maps a sensor window to the load or its class."""
    layers = tf.keras.layers
    stack: List[Any] = [layers.Reshape((WINDOW, 1), input_shape=(WINDOW,))]  # noqa: UP006 (Python 3.8)
    for _ in range(args.depth):
        stack.append(layers.Conv1D(args.width, 9, activation="relu", padding="same"))
        if args.batch_norm:
            stack.append(layers.BatchNormalization())
    stack += [layers.GlobalAveragePooling1D(), layers.Dense(args.classes or 1)]
    return tf.keras.Sequential(stack)


def loss_function(args: argparse.Namespace) -> Any:
    """Return a loss function without reduction: one loss per row."""
    losses, none = tf.keras.losses, tf.keras.losses.Reduction.NONE
    if args.classes:
        return losses.SparseCategoricalCrossentropy(from_logits=True, reduction=none)
    return losses.MeanSquaredError(reduction=none)


def own_value() -> Any:
    """Return a variable with a separate value on each worker."""
    mean, on_read = tf.VariableAggregation.MEAN, tf.VariableSynchronization.ON_READ
    return tf.Variable(0.0, aggregation=mean, synchronization=on_read, trainable=False)


class LocalLoss:
    """Loss function that keeps this worker's loss before the all-reduce, which `fit` does not show."""

    def __init__(self, strategy: Any, of_rows: Any) -> None:
        self.strategy, self.of_rows = strategy, of_rows
        self.last = own_value()

    def __call__(self, loads: Any, predicted: Any) -> Any:
        """Return the loss of each row, and store the mean in `last`."""
        losses = self.of_rows(loads, predicted)
        self.last.assign(tf.reduce_mean(losses))
        return losses

    def own(self) -> float:
        """Return this worker's loss in the last step."""
        return float(self.strategy.experimental_local_results(self.last)[0])
