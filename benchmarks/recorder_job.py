"""The job of `benchmarks.recorder`: prints the recorder's cost of a step, in pairs of blocks of steps.

Within one process, blocks with the hook alternate with blocks in which the hooked methods are the original
ones, so other work on the machine meets both alike. Time is the main thread's user and system time: what the
hook runs, it runs there.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import tensorflow as tf

KIND, SIZE, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PAIRS = 20


def custom_loop() -> tuple[Callable[[int], None], list[tuple[type, str]]]:
    """Return what makes some steps of a custom loop, and the methods that the recorder hooks in it."""
    weights = tf.Variable(tf.random.normal([SIZE, SIZE]))
    batches = iter(tf.data.Dataset.from_tensors(tf.random.normal([SIZE, SIZE])).repeat())

    def train_step(data: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(data, weights) ** 2)
        weights.assign_sub(0.001 * tape.gradient(loss, weights))
        return loss

    compiled: Callable[[tf.Tensor], tf.Tensor] = tf.function(train_step)

    def steps(count: int) -> None:
        for _ in range(count):
            compiled(next(batches))

    return steps, [(type(compiled), "__call__"), (type(batches), "__next__")]


def keras_fit() -> tuple[Callable[[int], None], list[tuple[type, str]]]:
    """Return what makes some steps by `fit`, and the methods that the recorder hooks in it."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(SIZE), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones([SIZE, SIZE]), tf.ones([SIZE, 1]))).repeat()

    def steps(count: int) -> None:
        model.fit(data, steps_per_epoch=count, verbose=0)

    compiled = type(tf.function(lambda: None))
    return steps, [(compiled, "__call__"), (tf.keras.callbacks.CallbackList, "on_train_batch_end")]


def seconds(steps: Callable[[int], None]) -> float:
    """Return the main thread's processor seconds of a step."""
    begin = time.thread_time()
    steps(STEPS)
    return (time.thread_time() - begin) / STEPS


def main() -> None:
    """Print one line of JSON: wall seconds of a step, and the pairs (with, without the hook)."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    steps, hooked = keras_fit() if KIND == "fit" else custom_loop()
    steps(STEPS)
    before = time.perf_counter()
    steps(STEPS)
    wall = (time.perf_counter() - before) / STEPS
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
