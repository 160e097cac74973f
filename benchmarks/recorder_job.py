"""The job of `benchmarks.recorder`: prints the recorder's cost of a step, in pairs of blocks of steps.

Within one process, blocks with the hook alternate with blocks in which the hooked methods are the original
ones, so other work on the machine meets both alike. Time is the main thread's user and system time: what the
hook runs, it runs there. Of each block, the median step counts: a step that was interrupted says nothing.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

    Job = tuple[Callable[[int], list[float]], list[tuple[type, str]]]
    """What makes some steps and returns the processor time (s) after each, and the methods hooked in it."""

KIND, SIZE, STEPS, PAIRS = sys.argv[1], *map(int, sys.argv[2:])


def custom_loop() -> Job:
    """Return a custom loop."""
    weights = tf.Variable(tf.random.normal([SIZE, SIZE]))
    batches = iter(tf.data.Dataset.from_tensors(tf.random.normal([SIZE, SIZE])).repeat())

    def train_step(data: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(data, weights) ** 2)
        weights.assign_sub(0.001 * tape.gradient(loss, weights))
        return loss

    compiled: Callable[[tf.Tensor], tf.Tensor] = tf.function(train_step)

    def steps(count: int) -> list[float]:
        times = []
        for _ in range(count):
            compiled(next(batches))
            times.append(thread_time())
        return times

    return steps, [(type(compiled), "__call__")]


class Times(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Notes the processor time after each step."""

    def on_train_begin(self, logs: object = None) -> None:
        """Forget earlier steps."""
        del logs
        self.times: list[float] = []

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        """Note the time."""
        del batch, logs
        self.times.append(thread_time())


def keras_fit() -> Job:
    """Return `Model.fit`."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(SIZE), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones([SIZE, SIZE]), tf.ones([SIZE, 1]))).repeat()

    noted = Times()

    def steps(count: int) -> list[float]:
        model.fit(data, steps_per_epoch=count, verbose=0, callbacks=[noted])
        return noted.times

    compiled = type(tf.function(lambda: None))
    return steps, [(compiled, "__call__"), (tf.keras.callbacks.CallbackList, "on_train_begin")]


def seconds(steps: Callable[[int], list[float]]) -> float:
    """Return the main thread's processor seconds of the median step of a block."""
    return float(np.median(np.diff(steps(STEPS))))


def main() -> None:
    """Print one line of JSON: wall seconds of a step, and the pairs (with, without the hook)."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    steps, hooked = keras_fit() if KIND == "fit" else custom_loop()
    steps(STEPS)
    before = perf_counter()
    steps(STEPS)
    wall = (perf_counter() - before) / STEPS
    on = [(owner, name, vars(owner)[name]) for owner, name in hooked]
    pairs = []
    for number in range(PAIRS):
        pair = {}
        for with_hook in (True, False) if number % 2 else (False, True):
            for owner, name, method in on:
                setattr(owner, name, method if with_hook else method.original)
            pair[with_hook] = seconds(steps)
        pairs.append([pair[True], pair[False]])
    sys.stdout.write(json.dumps({"wall": wall, "pairs": pairs}) + "\n")


if __name__ == "__main__":
    main()
