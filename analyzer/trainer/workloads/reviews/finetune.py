# ruff: noqa: ANN401
"""Sentiment model in a custom loop, with mixed precision and clipped gradients."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf
from loguru import logger
from tqdm import tqdm  # type: ignore[import-untyped]

BUCKETS = 2048
LENGTH = 40


class Encoder(tf.keras.Model):  # type: ignore[misc]
    """Embedding, convolution and a classifier head in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.embed = layers.Embedding(BUCKETS, width)
        self.conv = layers.Conv1D(width, 5, activation="gelu" if hasattr(tf.nn, "gelu") else "relu")
        self.pool = layers.GlobalMaxPooling1D()
        self.head = layers.Dense(1, dtype="float32")

    def call(self, tokens: Any) -> Any:
        """Return one logit per text."""
        return self.head(self.pool(self.conv(self.embed(tokens))))


def encode(line: Any) -> tuple[Any, Any]:
    """Split a line into label and hashed words."""
    fields = tf.strings.split(line, "\t")
    label = tf.strings.to_number(fields[0])
    words = tf.strings.split(fields[1])[:LENGTH]
    tokens = tf.strings.to_hash_bucket_fast(words, BUCKETS)
    return tf.pad(tokens, [[0, LENGTH - tf.size(tokens)]]), label


def batches_of(context: Any, args: argparse.Namespace) -> Any:
    """Return this worker's batches, from its own part of the corpus."""
    parts = sorted(str(path) for path in Path(args.corpus).glob("reviews.*.tsv"))
    own = parts[context.input_pipeline_id :: context.num_input_pipelines]
    logger.debug("corpus parts: {}", own)
    lines = tf.data.TextLineDataset(own).repeat()
    encoded = lines.map(encode)
    padded = encoded.map(lambda tokens, label: (tf.ensure_shape(tokens, [LENGTH]), label))
    return padded.batch(args.per_worker_batch, drop_remainder=True).prefetch(1)


class Trainer:
    """Model, optimizer with loss scaling, and the distributed step."""

    def __init__(self, args: argparse.Namespace, strategy: Any) -> None:
        self.args, self.strategy = args, strategy
        self.global_batch = args.per_worker_batch * strategy.num_replicas_in_sync
        with strategy.scope():
            self.model = Encoder(args.width)
            adam = tf.keras.optimizers.Adam(args.lr)
            self.optimizer = tf.keras.mixed_precision.LossScaleOptimizer(adam)
        self.train_step = tf.function(self._train_step)

    def _replica_step(self, tokens: Any, labels: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            logits = tf.squeeze(self.model(tokens, training=True), -1)
            rows = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
            loss = tf.nn.compute_average_loss(rows, global_batch_size=self.global_batch)
            scaled = self.optimizer.get_scaled_loss(loss)
        variables = self.model.trainable_variables
        gradients = self.optimizer.get_unscaled_gradients(tape.gradient(scaled, variables))
        clipped, norm = tf.clip_by_global_norm(gradients, self.args.clip)
        self.optimizer.apply_gradients(zip(clipped, variables))  # noqa: B905
        return loss, norm

    def _train_step(self, batch: Any) -> tuple[Any, Any]:
        losses, norms = self.strategy.run(self._replica_step, args=batch)
        reduce = self.strategy.reduce
        return (
            reduce(tf.distribute.ReduceOp.SUM, losses, axis=None),
            reduce(tf.distribute.ReduceOp.MEAN, norms, axis=None),
        )

    def run(self, batches: Any) -> float:
        """Train to the last step under a progress bar; return the last loss."""
        loss = float("nan")
        bar = tqdm(range(self.args.total_steps), desc="finetune", mininterval=2.0, ascii=True)
        for step in bar:
            loss, norm = (float(value) for value in self.train_step(next(batches)))
            bar.set_postfix(bce=f"{loss:.3f}", refresh=False)
            if step % self.args.log_every == 0:
                scale = float(self.optimizer.loss_scale)
                logger.info(
                    "it {:>5d} | bce {:.4f} | grad norm {:.3f} | loss scale {:g}", step, loss, norm, scale
                )
        return loss


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default="corpus")
    parser.add_argument("--total-steps", type=int, default=200)
    parser.add_argument("--per-worker-batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--policy", default="mixed_float16")
    return parser.parse_args()


@logger.catch(onerror=lambda _: sys.exit(1))
def main() -> None:
    """Train on all workers."""
    args = arguments()
    logger.info("host {}, tf {}, python {}", platform.node(), tf.__version__, platform.python_version())
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tf.keras.mixed_precision.set_global_policy(args.policy)
    trainer = Trainer(args, strategy)
    logger.info("{} replicas, global batch {}", strategy.num_replicas_in_sync, trainer.global_batch)
    batches = strategy.distribute_datasets_from_function(lambda context: batches_of(context, args))
    loss = trainer.run(iter(batches))
    logger.success("finished, bce {:.4f}", loss)


if __name__ == "__main__":
    main()
