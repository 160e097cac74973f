# ruff: noqa: T201
"""Generates film reviews: a label and a text per line, separated by a tab."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

GOOD = ["superb", "moving", "clever", "warm", "bright", "tender", "funny", "sharp", "honest", "gripping"]
BAD = ["dull", "hollow", "clumsy", "cold", "shallow", "noisy", "tired", "bland", "messy", "endless"]
OTHER = ["the", "a", "film", "plot", "cast", "scene", "ending", "camera", "score", "story", "with", "of"]


def review(draw: random.Random) -> str:
    """Return one labelled review; a tenth of the labels are wrong."""
    liked = draw.random() < 0.5
    words = draw.choices(OTHER, k=30) + draw.choices(GOOD if liked else BAD, k=6)
    draw.shuffle(words)
    label = liked != (draw.random() < 0.1)
    return f"{int(label)}\t{' '.join(words)}\n"


def main() -> None:
    """Write the parts of the corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--rows", type=int, default=2000, help="of a part")
    args = parser.parse_args()
    folder = Path("corpus")
    folder.mkdir(exist_ok=True)
    for part in range(args.parts):
        draw = random.Random(100 + part)  # noqa: S311
        (folder / f"reviews.{part:02d}.tsv").write_text("".join(review(draw) for _ in range(args.rows)))
    print(f"{args.parts} x {args.rows} reviews")


if __name__ == "__main__":
    main()
