"""A job of two workers under MultiWorkerMirroredStrategy; it prints what the recorder must not change.

`python two_workers.py KIND`, one process a worker: `trains`, `raises` (worker 1 raises after some steps),
`exits` (both end with status 5).
"""

from __future__ import annotations

import json
import os
import sys

import tensorflow as tf

KIND = sys.argv[1]


def main() -> None:
    """Train, and print each loss and the weights to the last bit."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    me = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    tf.random.set_seed(7)
    x = tf.random.stateless_uniform([64, 8], seed=(1, 2))
    data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True)))
    batches = iter(strategy.experimental_distribute_dataset(data.shuffle(64).batch(8).repeat()))
    with strategy.scope():
        weights = tf.Variable(tf.random.normal([8, 1]))

    def replica(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, weights) - y) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, weights))
        weights.assign_sub(0.05 * gradient)
        return loss

    step = tf.function(lambda batch: strategy.reduce("mean", strategy.run(replica, batch), axis=None))
    for number in range(12):
        print(number, float(step(next(batches))).hex(), flush=True)
        if KIND == "raises" and number == 6 and me == 1:
            raise ValueError("worker 1 gives up")
    print(weights.numpy().tobytes().hex())
    if KIND == "exits":
        sys.exit(5)


if __name__ == "__main__":
    main()
