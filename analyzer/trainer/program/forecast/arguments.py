"""Defines the command-line arguments of the program."""

from __future__ import annotations

import argparse


def parse_args() -> argparse.Namespace:
    """Return the parsed command-line arguments."""
    parser = argparse.ArgumentParser(description="Train the load forecast on every worker of the cluster.")
    parser.add_argument("--mode", choices=["fit", "custom", "ps", "estimator"], default="fit")
    _add_data(parser)
    _add_model(parser)
    _add_saving(parser)
    _add_reports(parser)
    _add_cluster(parser)
    return parser.parse_args()


def _add_data(parser: argparse.ArgumentParser) -> None:
    """Add the options of the data and of its division among the workers."""
    add = parser.add_argument
    add("--data", default="data")
    add("--manifest", default="config/files.txt", help="names of the data files")
    add("--format", choices=["csv", "tfrecord"], default="csv")
    add("--shard", choices=["file", "auto", "none"], default="file")
    add("--once", action="store_true", help="read the data once, not forever")
    add("--until-end", action="store_true", help="an epoch ends with the data")
    add("--normalise", action="store_true")
    add("--schedule", default="config/schedule.csv")
    add("--statistics", default="statistics")
    add("--refresh-every", type=int, default=10)
    add("--count-rows", action="store_true", help="read all data once first")
    add("--keep-windows", type=int, default=0, help="how many tensors of them")


def _add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options for the size of the model and the length of the training."""
    add = parser.add_argument
    add("--epochs", type=int, default=3)
    add("--steps", type=int, default=20, help="steps of an epoch")
    add("--batch-size", type=int, default=64)
    add("--width", type=int, default=64)
    add("--depth", type=int, default=2)
    add("--classes", type=int, default=0, help="classify the load instead")
    add("--batch-norm", action="store_true")
    add("--target-loss", type=float, default=0.0)
    add("--batch-growth", type=int, default=0, help="steps until it grows by itself")
    add("--calibrate-at", type=int, default=0, help="step to calibrate at")
    add("--tolerance", type=float, default=1e-3, help="of the calibration")
    add("--mixed-precision", action="store_true")
    add("--warm-up", action="store_true", help="try the device first")
    add("--seed", type=int, default=7)


def _add_saving(parser: argparse.ArgumentParser) -> None:
    """Add the options for evaluating and saving the model, and for resuming the training."""
    add = parser.add_argument
    add("--evaluate-every", type=int, default=0, help="steps")
    add("--checkpoint-every", type=int, default=0, help="steps")
    add("--checkpoints", default="checkpoints", help="where they are written")
    add("--backup", default="", help="where `fit` keeps what it needs to go on")
    add("--progress", default="", help="where a custom loop notes the step to go on from")
    add("--save-on", choices=["all", "chief"], default="all")
    add("--restore", default="", help="a checkpoint to begin with")


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """Add the options for what the program logs."""
    add = parser.add_argument
    add("--logdir", default="")
    add("--profile", type=int, default=0, help="first step to profile")
    add("--profile-for", type=float, default=0.0, help="seconds, in a custom loop")
    add("--log-style", default="plain")
    add("--report", choices=["loss", "local_loss", "both"], default="loss")
    add("--watch-gradients", action="store_true", help="write their norm, and the learning rate")
    add("--log-batches", action="store_true")


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the options for how the workers find each other."""
    add = parser.add_argument
    add("--strategy", choices=["multi-worker", "mirrored"], default="multi-worker")
    add("--devices", type=int, default=2, help="replicas of a mirrored strategy without GPUs")
    add("--cluster-from", choices=["tf-config", "slurm", "arguments"], default="tf-config")
    add("--port-base", type=int, default=8888, help="with --cluster-from slurm")
    add("--gpus-per-node", type=int, help="with --cluster-from slurm")
    add("--workers", default="", help="host:port,... with --cluster-from arguments")
    add("--task", type=int, default=0, help="with --cluster-from arguments")
    add("--communication", choices=["auto", "ring", "nccl"], default="auto")
