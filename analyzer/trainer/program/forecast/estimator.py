# ruff: noqa: ANN401, ARG002
"""Trains with tf.estimator, which exists up to TensorFlow 2.15."""

from __future__ import annotations

import argparse
from typing import Any

import tensorflow as tf

from .data import make_dataset, part_files
from .hooks import Schedule, Statistics, stop_requested
from .model import build_model
from .reporter import Reporter


class PerStep(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
    """Session hook that checks for stop requests and refreshes the statistics before each step."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.schedule = Schedule(args.schedule)
        self.statistics = Statistics(args.statistics, args.refresh_every)
        self.step = 0

    def before_run(self, run_context: Any) -> None:
        """Exit if a stop is requested; refresh the statistics and read the learning rate."""
        stop_requested()
        self.step += 1
        self.statistics.refresh(self.step)
        self.schedule.rate(self.step)


def model_function(args: argparse.Namespace) -> Any:
    """Return the function that builds the graph of training or evaluation."""

    def build(features: Any, labels: Any, mode: Any) -> Any:
        model = build_model(args)
        predicted = model(features, training=mode == tf.estimator.ModeKeys.TRAIN)
        loss = tf.reduce_mean(tf.square(predicted - labels))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
        step = tf.compat.v1.train.get_or_create_global_step()
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))

    return build


def estimator(args: argparse.Namespace, reporter: Reporter) -> None:
    """Train with an Estimator, and evaluate at the end."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    config = tf.estimator.RunConfig(
        "model", train_distribute=strategy, log_step_count_steps=5, save_summary_steps=20
    )
    paths = part_files(args)

    def batches(input_context: Any = None) -> Any:
        share = input_context.num_input_pipelines if input_context else 1
        first = input_context.input_pipeline_id if input_context else 0
        return make_dataset(args, paths[first::share])

    steps = args.epochs * args.steps
    made = tf.estimator.Estimator(model_function(args), config=config)
    train = tf.estimator.TrainSpec(batches, max_steps=steps, hooks=[PerStep(args)])
    tf.estimator.train_and_evaluate(made, train, tf.estimator.EvalSpec(batches, steps=5))
    reporter.say("training complete")
