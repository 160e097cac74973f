# ruff: noqa: ANN401
"""Factorizes the ratings: a coordinator schedules steps on workers, the factors lie on parameter servers."""

from __future__ import annotations

import argparse
import glob
import os
from typing import Any

import structlog
import tensorflow as tf

USERS, ITEMS = 400, 250

structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", key="ts"),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
)
log = structlog.get_logger(service="recsys")


def parse_args() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", default="dump")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--in-flight", type=int, default=10, help="steps scheduled between two joins")
    return parser.parse_args()


def ratings(dump: str, batch: int) -> Any:
    """Return batches of (user, item, stars)."""
    files = sorted(glob.glob(f"{dump}/ratings_*.csv"))  # noqa: PTH207
    rows = tf.data.experimental.CsvDataset(files, [tf.int64, tf.int64, tf.float32])
    return rows.shuffle(500).repeat().batch(batch).prefetch(1)


class Factors(tf.Module):  # type: ignore[misc]
    """User and item factors, and their optimizer."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        draw = tf.random.Generator.from_seed(1)
        self.users = tf.Variable(draw.normal([USERS, rank], stddev=0.1))
        self.items = tf.Variable(draw.normal([ITEMS, rank], stddev=0.1))
        self.mean = tf.Variable(3.0)
        self.optimizer = tf.keras.optimizers.Adagrad(0.3)

    def loss(self, users: Any, items: Any, stars: Any) -> Any:
        """Return the mean squared error of a batch."""
        products = tf.gather(self.users, users) * tf.gather(self.items, items)
        return tf.reduce_mean((self.mean + tf.reduce_sum(products, axis=1) - stars) ** 2)

    def update(self, users: Any, items: Any, stars: Any) -> Any:
        """Take one optimizer step and return the loss."""
        with tf.GradientTape() as tape:
            loss = self.loss(users, items, stars)
        variables = [self.users, self.items, self.mean]
        gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
        self.optimizer.apply_gradients(zip(gradients, variables))  # noqa: B905
        return loss


def coordinate(resolver: Any, args: argparse.Namespace) -> None:
    """Schedule all steps, and log the loss after each join."""
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        factors = Factors(args.rank)
    batches = iter(coordinator.create_per_worker_dataset(lambda: ratings(args.dump, args.batch)))

    @tf.function  # type: ignore[untyped-decorator]
    def step(iterator: Any) -> Any:
        losses = strategy.run(factors.update, args=next(iterator))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    log.info("scheduling", steps=args.steps, workers=len(resolver.cluster_spec().as_dict()["worker"]))
    for done in range(0, args.steps, args.in_flight):
        pending = [coordinator.schedule(step, args=(batches,)) for _ in range(args.in_flight)]
        coordinator.join()
        mse = sum(float(one.fetch()) for one in pending) / len(pending)
        log.info("joined", step=done + len(pending), mse=round(mse, 4))
    log.info("converged", rank=args.rank)


def main() -> None:
    """Serve, or coordinate, as TF_CONFIG says."""
    args = parse_args()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    role, index = resolver.task_type, resolver.task_id
    log.info("hello", role=role, index=index, pid=os.getpid(), tf=tf.__version__)
    if role in {"worker", "ps"}:
        spec = resolver.cluster_spec()
        server = tf.distribute.Server(spec, job_name=role, task_index=index, protocol="grpc")
        server.join()
        return
    try:
        coordinate(resolver, args)
    except Exception:
        log.exception("gave up")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
