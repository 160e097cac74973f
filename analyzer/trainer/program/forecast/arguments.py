"""Defines the command-line arguments of the program."""

from __future__ import annotations

import argparse


def parse_args() -> argparse.Namespace:
    """Return the parsed command-line arguments."""
    parser = argparse.ArgumentParser(description="Train the load forecast on every worker of the cluster.")
    parser.add_argument("--mode", choices=["fit", "custom", "ps", "estimator"], default="fit")
    parser.add_argument("--data", default="data")
    parser.add_argument("--manifest", default="config/files.txt", help="names of the data files")
    parser.add_argument("--format", choices=["csv", "tfrecord"], default="csv")
    parser.add_argument("--shard", choices=["file", "auto", "none"], default="file")
    parser.add_argument("--once", action="store_true", help="read the data once, not for ever")
    parser.add_argument("--until-end", action="store_true", help="an epoch ends with the data")
    parser.add_argument("--normalise", action="store_true")
    parser.add_argument("--schedule", default="config/schedule.csv")
    parser.add_argument("--statistics", default="statistics")
    parser.add_argument("--refresh-every", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="steps of an epoch")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--classes", type=int, default=0, help="classify the load instead")
    parser.add_argument("--batch-norm", action="store_true")
    parser.add_argument("--target-loss", type=float, default=0.0)
    parser.add_argument("--evaluate-every", type=int, default=0, help="steps")
    parser.add_argument("--checkpoint-every", type=int, default=0, help="steps")
    parser.add_argument("--checkpoints", default="checkpoints", help="where they are written")
    parser.add_argument("--backup", default="", help="where `fit` keeps what it needs to go on")
    parser.add_argument("--progress", default="", help="where a custom loop notes the step to go on from")
    parser.add_argument("--save-on", choices=["all", "chief"], default="all")
    parser.add_argument("--restore", default="", help="a checkpoint to begin with")
    parser.add_argument("--count-rows", action="store_true", help="read all data once first")
    parser.add_argument("--warm-up", action="store_true", help="try the device first")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--logdir", default="")
    parser.add_argument("--profile", type=int, default=0, help="first step to profile")
    parser.add_argument("--profile-for", type=float, default=0.0, help="seconds, in a custom loop")
    parser.add_argument("--log-style", default="plain")
    parser.add_argument("--report", choices=["loss", "local_loss", "both"], default="loss")
    parser.add_argument(
        "--watch-gradients", action="store_true", help="write their norm, and the learning rate"
    )
    parser.add_argument("--log-batches", action="store_true")
    parser.add_argument("--strategy", choices=["multi-worker", "mirrored"], default="multi-worker")
    parser.add_argument("--devices", type=int, default=2, help="replicas of a mirrored strategy without GPUs")
    parser.add_argument("--mixed-precision", action="store_true")
    parser.add_argument("--cluster-from", choices=["tf-config", "slurm", "arguments"], default="tf-config")
    parser.add_argument("--port-base", type=int, default=8888, help="with --cluster-from slurm")
    parser.add_argument("--gpus-per-node", type=int, help="with --cluster-from slurm")
    parser.add_argument("--workers", default="", help="host:port,... with --cluster-from arguments")
    parser.add_argument("--task", type=int, default=0, help="with --cluster-from arguments")
    parser.add_argument("--communication", choices=["auto", "ring", "nccl"], default="auto")
    return parser.parse_args()
