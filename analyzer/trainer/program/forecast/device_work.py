# ruff: noqa: ANN401
"""Does extra work on the device before a step: a growing batch, kept windows, a calibration."""

from __future__ import annotations

import argparse
import random
from typing import Any, List  # noqa: UP035 (Python 3.8 runs this file too)

import tensorflow as tf

from .data import WINDOW

ROWS = 65_536


class DeviceWork:
    """Work on the device before a step, as the command line asks for it."""

    def __init__(self, args: argparse.Namespace, strategy: Any) -> None:
        self.strategy = strategy
        self.growth, self.keep = args.batch_growth, args.keep_windows
        self.calibrate_at, self.tolerance = args.calibrate_at, args.tolerance
        self.draw = random.Random(3)  # noqa: S311
        self.kept: List[Any] = []  # noqa: UP006 (Python 3.8)

    def before(self, step: int, batch: Any) -> Any:
        """Do the work due before a step, and return the step's batch, which `growth` enlarges over time."""
        if self.keep:
            self._keep_windows(step)
        if step == self.calibrate_at:
            calibrate(tf.constant(self.tolerance))
        if not self.growth:
            return batch
        times = 1 + step // self.growth
        return self.strategy.run(lambda *parts: [tf.repeat(part, times, axis=0) for part in parts], batch)

    def _keep_windows(self, step: int) -> None:
        """Keep windows of a random number that rises with the step; drop every other once there are many."""
        self.kept.append(tf.zeros([self.draw.randrange(1, 1 + step) * ROWS, WINDOW]))
        if len(self.kept) > self.keep:
            self.kept = self.kept[::2]


@tf.function  # type: ignore[untyped-decorator]
def calibrate(tolerance: Any) -> Any:
    """Return the dominant eigenvalue of a fixed matrix, by power iteration to a relative tolerance."""
    matrix = tf.random.stateless_uniform([2048, 2048], seed=[1, 2])
    vector, value, change = tf.ones([2048, 1]), tf.constant(1.0), tf.constant(1.0)
    while change >= tolerance:
        product = tf.linalg.matmul(matrix, vector)
        norm = tf.norm(product)
        change = tf.abs(norm - value) / norm
        vector, value = product / norm, norm
    return value
