"""The job of `benchmarks.recorder`: prints processor and wall seconds of a step, medians over blocks."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import tensorflow as tf

KIND, SIZE, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
BLOCKS = 10


def custom_loop() -> Callable[[], object]:
    """Return what makes one step of a custom loop."""
    weights = tf.Variable(tf.random.normal([SIZE, SIZE]))
    data = tf.random.normal([SIZE, SIZE])

    def train_step() -> object:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(data, weights) ** 2)
        weights.assign_sub(0.001 * tape.gradient(loss, weights))
        return loss

    compiled: Callable[[], object] = tf.function(train_step)
    return compiled


def keras_block() -> Callable[[], object]:
    """Return what makes one block of steps by `fit`."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(SIZE), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones([SIZE, SIZE]), tf.ones([SIZE, 1]))).repeat()
    return lambda: model.fit(data, steps_per_epoch=STEPS // BLOCKS, verbose=0)


def main() -> None:
    """Print one line: processor seconds and wall seconds of a step."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    step = keras_block() if KIND == "fit" else custom_loop()
    rounds = 1 if KIND == "fit" else STEPS // BLOCKS
    step()
    found = []
    for _ in range(BLOCKS):
        before = time.process_time(), time.perf_counter()
        for _ in range(rounds):
            step()
        after = time.process_time(), time.perf_counter()
        found.append([(end - begin) / (STEPS // BLOCKS) for begin, end in zip(before, after)])  # noqa: B905
    medians = (str(statistics.median(column)) for column in zip(*found))  # noqa: B905
    sys.stdout.write(" ".join(medians) + "\n")


if __name__ == "__main__":
    main()
