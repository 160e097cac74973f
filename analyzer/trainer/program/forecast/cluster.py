# ruff: noqa: ANN401
"""Creates the cluster resolver and the distribution strategy."""

from __future__ import annotations

import argparse
from typing import Any

import tensorflow as tf


def make_resolver(args: argparse.Namespace) -> Any:
    """Return the cluster resolver for `--cluster-from`: Slurm, command-line arguments or TF_CONFIG."""
    resolvers = tf.distribute.cluster_resolver
    if args.cluster_from == "slurm":
        return resolvers.SlurmClusterResolver(
            port_base=args.port_base, gpus_per_node=args.gpus_per_node, auto_set_gpu=False
        )
    if args.cluster_from == "arguments":
        cluster = tf.train.ClusterSpec({"worker": args.workers.split(",")})
        return resolvers.SimpleClusterResolver(
            cluster, task_type="worker", task_id=args.task, rpc_layer="grpc"
        )
    return resolvers.TFConfigClusterResolver()


def make_strategy(args: argparse.Namespace) -> Any:
    """Return a MirroredStrategy over this process's devices, or a MultiWorkerMirroredStrategy."""
    if args.mixed_precision:
        tf.keras.mixed_precision.set_global_policy("mixed_float16")
    if args.strategy == "mirrored":
        if not tf.config.list_physical_devices("GPU"):
            split = [tf.config.LogicalDeviceConfiguration()] * args.devices
            tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], split)
        names = [device.name for device in tf.config.list_logical_devices()]
        return tf.distribute.MirroredStrategy([name for name in names if "GPU" in name] or names)
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=getattr(
            tf.distribute.experimental.CommunicationImplementation, args.communication.upper()
        )
    )
    return tf.distribute.MultiWorkerMirroredStrategy(
        cluster_resolver=make_resolver(args), communication_options=options
    )
