# ruff: noqa: T201
"""Writes pictures of leaf shapes to TFRecord shards, one JPEG and one label per example."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf

SIDE = 32
SPECIES = 5


def picture(draw: np.random.Generator, species: int) -> bytes:
    """Return a JPEG of an ellipse, which is narrower for each species."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2 + draw.normal(0.0, 1.5, (2, 1, 1))
    leaf = (rows / 13) ** 2 + (columns / (13 - 2 * species)) ** 2 < 1.0
    pixels = draw.normal(120.0, 25.0, (SIDE, SIDE, 3))
    pixels[leaf] += (-60.0, 70.0, -60.0)
    return bytes(tf.io.encode_jpeg(np.clip(pixels, 0, 255).astype(np.uint8)).numpy())


def example(draw: np.random.Generator) -> bytes:
    """Return a serialized `tf.train.Example`."""
    species = int(draw.integers(SPECIES))
    image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture(draw, species)]))
    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[species]))
    features = tf.train.Features(feature={"image/encoded": image, "image/class/label": label})
    return bytes(tf.train.Example(features=features).SerializeToString())


def main() -> None:
    """Write the shards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="data/train")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--images", type=int, default=1000, help="of a shard")
    args = parser.parse_args()
    Path(args.out).mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(11)
    for shard in range(args.shards):
        name = f"{args.out}/leaves-{shard:03d}-of-{args.shards:03d}.tfrecord"
        with tf.io.TFRecordWriter(name) as writer:
            for _ in range(args.images):
                writer.write(example(draw))
    print(f"{args.shards} shards of {args.images} images in {args.out}")


if __name__ == "__main__":
    main()
