# ruff: noqa: ANN401
"""Click-through-rate model: a custom Estimator under train_and_evaluate."""

from __future__ import annotations

import argparse
import glob
import json
import logging
import os
from typing import Any

import tensorflow as tf
from model import model_fn  # type: ignore[import-not-found]

log = logging.getLogger("ctr.task")

DEFAULTS = [[0], [0.0], [0.0], [0], [""]]
NAMES = ["clicked", "age", "price", "position", "site"]


def parse_line(line: Any) -> tuple[dict[str, Any], Any]:
    """Split a line of the log into features and label."""
    columns = dict(zip(NAMES, tf.io.decode_csv(line, DEFAULTS)))  # noqa: B905
    return columns, columns.pop("clicked")


def input_fn(pattern: str, batch_size: int, context: Any = None) -> Any:
    """Return batches of impressions; each worker reads its own days."""
    files = sorted(glob.glob(pattern))  # noqa: PTH207
    if context is not None:
        files = files[context.input_pipeline_id :: context.num_input_pipelines]
    return tf.data.TextLineDataset(files).repeat().batch(batch_size).map(parse_batch)


def parse_batch(lines: Any) -> tuple[dict[str, Any], Any]:
    """Parse a batch of lines at once."""
    return parse_line(lines)


def get_args() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-files", default="impressions/day-*.csv")
    parser.add_argument("--eval-files", default="impressions/day-01.csv")
    parser.add_argument("--job-dir", default="export/ctr")
    parser.add_argument("--train-batch-size", type=int, default=128)
    parser.add_argument("--max-steps", type=int, default=200)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    return parser.parse_args()


def main() -> None:
    """Train and evaluate."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
    args = get_args()
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {})
    log.info("starting %s/%s, max_steps=%d", task.get("type"), task.get("index"), args.max_steps)
    config = tf.estimator.RunConfig(
        model_dir=args.job_dir,
        train_distribute=tf.distribute.experimental.MultiWorkerMirroredStrategy(),
        log_step_count_steps=20,
        save_checkpoints_steps=100,
    )
    params = {"learning_rate": args.learning_rate}
    estimator = tf.estimator.Estimator(model_fn, config=config, params=params)

    def train_input(input_context: Any = None) -> Any:
        return input_fn(args.train_files, args.train_batch_size, input_context)

    train = tf.estimator.TrainSpec(train_input, max_steps=args.max_steps)
    check = tf.estimator.EvalSpec(lambda: input_fn(args.eval_files, args.train_batch_size), steps=10)
    tf.estimator.train_and_evaluate(estimator, train, check)
    log.info("model is in %s", args.job_dir)


if __name__ == "__main__":
    main()
