"""A training program for the recorder's tests; it prints what the recorder must not change.

`python programs.py KIND`: `loop` (custom loop), `fit`, `eager` (no tf.function), `fails` (exception in a step),
`exits` (sys.exit), `workers` (a data loader of other processes), `hangs` (a lock held for ever after some steps).
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import tensorflow as tf

KIND = sys.argv[1]
STEPS = 30


def batches(seed: int) -> Any:
    """Return a shuffled dataset of random numbers."""
    draw = np.random.RandomState(seed)
    x = draw.rand(256, 8).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1))).shuffle(256).batch(32).repeat()


class Loop:
    """A custom training loop under the default strategy."""

    def __init__(self) -> None:
        self.weights = tf.Variable(tf.random.normal([8, 1]), name="weights")
        self.strategy = tf.distribute.get_strategy()
        self.compiled = tf.function(self.step)

    def step(self, batch: Any) -> Any:
        """Make one step and return the loss."""
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, self.weights)[:, 0] - y) ** 2)
            if KIND == "fails":
                loss = tf.debugging.check_numerics(loss / 0.0, "the loss")
        self.weights.assign_sub(0.05 * tape.gradient(loss, self.weights))
        return loss

    def run(self) -> None:
        """Train, and print each loss to the last bit."""
        iterator = iter(self.strategy.experimental_distribute_dataset(batches(1)))
        for number in range(STEPS):
            step = self.step if KIND == "eager" else self.compiled
            print(number, float(step(next(iterator))).hex(), flush=True)
            if KIND == "hangs" and number == STEPS // 2:
                wait_for_ever()
        print(self.weights.numpy().tobytes().hex())


def wait_for_ever() -> None:
    """Take a lock twice."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def fit() -> None:
    """Train by Keras."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(batches(2), epochs=2, steps_per_epoch=10, verbose=0)
    model.evaluate(batches(3), steps=3, verbose=0)
    print([float(loss).hex() for loss in history.history["loss"]])
    print([weight.tobytes().hex() for weight in model.get_weights()])


def square(number: int) -> int:
    """Return what a worker process computes."""
    return number * number


def with_workers() -> None:
    """Use processes that are forked, spawned, and started as other programs, then train."""
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(pool.map(square, range(4)))
    print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, check=True).stdout)
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    print(os.waitpid(pid, 0)[1])
    Loop().run()


def main() -> None:
    """Run one kind of program."""
    tf.random.set_seed(7)
    random.seed(8)
    np.random.seed(9)
    {"fit": fit, "workers": with_workers}.get(KIND, lambda: Loop().run())()
    print(random.random(), np.random.rand(), float(tf.random.uniform([])))
    if KIND == "exits":
        sys.exit(4)


if __name__ == "__main__":
    main()
