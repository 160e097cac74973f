"""Trains the load forecast on every worker of the cluster."""

from __future__ import annotations

import argparse

import tensorflow as tf
from forecast.arguments import parse_args  # type: ignore[import-not-found]
from forecast.cluster import make_strategy  # type: ignore[import-not-found]
from forecast.custom_loop import custom_loop  # type: ignore[import-not-found]
from forecast.data import count_rows  # type: ignore[import-not-found]
from forecast.keras_fit import fit  # type: ignore[import-not-found]
from forecast.parameter_server import parameter_server  # type: ignore[import-not-found]
from forecast.reporter import Reporter  # type: ignore[import-not-found]
from forecast.styles import uncaught  # type: ignore[import-not-found]


def main() -> None:
    """Parse the command line, train, and log uncaught exceptions in the chosen style."""
    args = parse_args()
    reporter = Reporter(args.log_style, args.report, args.epochs * args.steps)
    with uncaught(args.log_style):
        train(args, reporter)


def train(args: argparse.Namespace, reporter: Reporter) -> None:
    """Train with the chosen mode, and report the end."""
    reporter.say(f"TensorFlow {tf.__version__}")
    if args.warm_up:
        tf.linalg.matmul(tf.ones([64, 64]), tf.ones([64, 64]))
    if args.mode == "estimator":
        from forecast.estimator import estimator  # type: ignore[import-not-found]

        estimator(args, reporter)
        return
    if args.mode == "ps":
        parameter_server(args, reporter)
        reporter.say("training complete")
        return
    if args.count_rows:
        count_rows(args, reporter)
    strategy = make_strategy(args)
    resolver, replicas = strategy.cluster_resolver, f"replicas in sync: {strategy.num_replicas_in_sync}"
    reporter.say(f"{replicas}, task {resolver.task_type}:{resolver.task_id}" if resolver else replicas)
    tf.random.set_seed(args.seed)
    loss = {"fit": fit, "custom": custom_loop}[args.mode](args, strategy, reporter)
    reporter.say(f"training complete: final loss {loss:.4f}")


if __name__ == "__main__":
    main()
