# ruff: noqa: ANN401
"""Leaf classifier: Keras `fit` on TFRecord shards, on all machines of TF_CONFIG."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from absl import app, flags, logging

FLAGS = flags.FLAGS
flags.DEFINE_string("data_dir", "data/train", "directory of the TFRecord shards")
flags.DEFINE_string("ckpt_dir", "", "directory of the weights after each epoch; empty for none")
flags.DEFINE_integer("epochs", 5, "epochs")
flags.DEFINE_integer("steps_per_epoch", 50, "optimizer steps per epoch")
flags.DEFINE_integer("batch_size", 32, "images per machine and step")
flags.DEFINE_float("learning_rate", 0.02, "learning rate of the momentum optimizer")
flags.DEFINE_integer("classes", 5, "number of species")
flags.DEFINE_integer("log_every", 10, "steps between two lines of the log")

FEATURES = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(serialized: Any) -> tuple[Any, Any]:
    """Decode and augment one example."""
    found = tf.io.parse_single_example(serialized, FEATURES)
    image = tf.image.decode_jpeg(found["image/encoded"], channels=3)
    image = tf.image.random_flip_left_right(tf.cast(image, tf.float32) / 127.5 - 1.0)
    return tf.ensure_shape(image, [32, 32, 3]), found["image/class/label"]


def input_fn(context: Any) -> Any:
    """Return the batches of one machine: every n-th shard, for ever."""
    shards = sorted(str(path) for path in Path(FLAGS.data_dir).glob("*.tfrecord"))
    own = shards[context.input_pipeline_id :: context.num_input_pipelines]
    logging.info("input pipeline %d reads %s", context.input_pipeline_id, ", ".join(own))
    records = tf.data.TFRecordDataset(own).shuffle(256, seed=3).repeat()
    batches = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(FLAGS.batch_size)
    return batches.prefetch(2)


def leaf_net() -> Any:
    """Return a small convolutional network."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(12, 3, strides=2, activation="relu", input_shape=(32, 32, 3)),
            layers.BatchNormalization(),
            layers.Conv2D(24, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.2),
            layers.Dense(FLAGS.classes),
        ]
    )


class Throughput(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Logs loss, accuracy and images per second every few steps."""

    def __init__(self) -> None:
        super().__init__()
        self.seen, self.since = 0, time.time()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Log the last steps."""
        self.seen += 1
        if self.seen % FLAGS.log_every:
            return
        rate = FLAGS.log_every * FLAGS.batch_size / (time.time() - self.since)
        self.since = time.time()
        values = logs or {}
        logging.info(
            "step %d  xent=%.4f  acc=%.3f  %.1f images/s",
            self.seen, values.get("loss", 0.0), values.get("accuracy", 0.0), rate,
        )  # fmt: skip


def main(argv: list[str]) -> None:
    """Train, and log the accuracy of the last epoch."""
    del argv
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver
    logging.info("%s %s of a cluster of %d", task.task_type, task.task_id, strategy.num_replicas_in_sync)
    options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
    batches = strategy.distribute_datasets_from_function(input_fn, options)
    with strategy.scope():
        model = leaf_net()
        model.compile(
            optimizer=tf.keras.optimizers.SGD(FLAGS.learning_rate, momentum=0.9),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    callbacks = [Throughput()]
    if FLAGS.ckpt_dir:
        name = f"{FLAGS.ckpt_dir}/leaf-{{epoch:03d}}.h5"
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(name, save_weights_only=True))
    history = model.fit(
        batches, epochs=FLAGS.epochs, steps_per_epoch=FLAGS.steps_per_epoch, verbose=2, callbacks=callbacks
    )
    logging.info("done: accuracy of the last epoch %.3f", history.history["accuracy"][-1])


if __name__ == "__main__":
    app.run(main)
