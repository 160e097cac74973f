# ruff: noqa: ANN401
"""Trains with ParameterServerStrategy."""

from __future__ import annotations

import argparse
import time
from typing import Any

import tensorflow as tf

from .custom_loop import make_step
from .data import make_dataset, part_files
from .reporter import Reporter


def serve(resolver: Any, reporter: Reporter) -> None:
    """Run this task's TensorFlow server, which the chief uses, until killed."""
    task, index = resolver.task_type, resolver.task_id
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=task, task_index=index, protocol="grpc")
    reporter.say(f"serving as {task}:{index}")
    server.join()


def follow(args: argparse.Namespace, reporter: Reporter) -> None:
    """Report each new checkpoint; end after an hour without one."""
    reporter.say(f"waiting for checkpoints in {args.checkpoints}")
    for path in tf.train.checkpoints_iterator(args.checkpoints, timeout=3600):
        reporter.say(f"new checkpoint {path}")


def parameter_server(args: argparse.Namespace, reporter: Reporter) -> float:
    """Train as the chief and return the last loss; on other tasks, serve or follow checkpoints."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type == "evaluator":
        follow(args, reporter)
    if resolver.task_type != "chief":
        serve(resolver, reporter)
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    reporter.say(f"replicas in sync: {strategy.num_replicas_in_sync}, task {resolver.task_type}:0")
    _, _, train_step, _ = make_step(args, strategy)
    paths = part_files(args)
    batches = iter(coordinator.create_per_worker_dataset(lambda: make_dataset(args, paths)))
    next_step = tf.function(lambda iterator: train_step(next(iterator))[0])
    loss = float("nan")
    for step in range(1, args.epochs * args.steps + 1):
        started = time.time()
        loss = float(coordinator.schedule(next_step, args=(batches,)).fetch())
        reporter.step(step, loss, loss, time.time() - started)
    return loss
