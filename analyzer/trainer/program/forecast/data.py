# ruff: noqa: ANN401
"""Reads the training data: files of sensor windows and loads."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any, Iterator  # noqa: UP035 (Python 3.8 runs this file too)
from urllib.request import urlopen

import tensorflow as tf

from .reporter import Reporter

WINDOW = 64


def part_files(args: argparse.Namespace) -> list[str]:
    """Return the paths of the data files, in the order of the manifest."""
    return [f"{args.data}/{name}" for name in read_manifest(args.manifest).split()]


def read_manifest(place: str) -> str:
    """Return the text of a manifest from a path or from a URL of the catalogue service."""
    if "://" not in place:
        return Path(place).read_text()
    with urlopen(place, timeout=20) as answer:  # noqa: S310 (the user's own argument)
        return str(answer.read().decode())


def read_rows(paths: list[str]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the sensor window and the load of every row."""
    for path in paths:
        with open(path, newline="") as stream:  # noqa: PTH123
            for row in csv.reader(stream):
                values = [float(cell) for cell in row]
                yield values[:WINDOW], values[WINDOW:]


def read_records(paths: list[str]) -> Any:
    """Return a dataset with the sensor window and the load of every TFRecord."""

    def decode(record: Any) -> Any:
        values = tf.reshape(tf.io.decode_raw(record, tf.float32), [WINDOW + 1])
        return values[:WINDOW], values[WINDOW:]

    return tf.data.TFRecordDataset(paths).map(decode)


def count_rows(args: argparse.Namespace, reporter: Reporter) -> None:
    """Read every data file once and report its number of rows."""
    for path in part_files(args):
        reporter.say(f"{path}: {sum(1 for _ in read_rows([path]))} rows")


def make_dataset(args: argparse.Namespace, paths: list[str]) -> Any:
    """Return a dataset of batches from the files, repeated forever unless `--once` is given."""
    if args.format == "tfrecord":
        rows = read_records(paths)
    else:
        signature = (tf.TensorSpec([WINDOW], tf.float32), tf.TensorSpec([1], tf.float32))
        rows = tf.data.Dataset.from_generator(lambda: read_rows(paths), output_signature=signature)
    if args.normalise:
        from windowing import normalise  # type: ignore[import-not-found]

        rows = rows.map(normalise)
    if args.classes:
        rows = rows.map(lambda window, load: (window, tf.cast(tf.maximum(load * 4.0, 0.0), tf.int32)))
    if not args.once:
        rows = rows.repeat()
    return rows.batch(args.batch_size, drop_remainder=True)


def distribute(args: argparse.Namespace, strategy: Any) -> Any:
    """Return the distributed dataset, sharded by file, by TensorFlow, or not at all (`--shard`)."""
    paths = part_files(args)
    if args.shard == "auto":
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
        return strategy.experimental_distribute_dataset(make_dataset(args, paths).with_options(options))

    def own(context: Any) -> Any:
        step = context.num_input_pipelines if args.shard == "file" else 1
        first = context.input_pipeline_id if args.shard == "file" else 0
        return make_dataset(args, paths[first::step])

    return strategy.distribute_datasets_from_function(own)
