"""Samples an ad server's log: `sample_log.py FILES ROWS` writes ROWS impressions to each of FILES files."""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

SITES = ["news", "mail", "video", "shop", "forum"]


def impression(draw: random.Random) -> list[object]:
    """Return one row: whether it was clicked (0 or 1), age in days, price, position and site."""
    age, price, position = draw.expovariate(0.1), draw.lognormvariate(1.0, 0.6), draw.randint(1, 8)
    odds = 1.5 - 0.4 * position + 0.1 * price - 0.02 * age
    return [int(draw.gauss(0, 1) < odds), f"{age:.2f}", f"{price:.3f}", position, draw.choice(SITES)]


def main(files: int, rows: int) -> None:
    """Write the files."""
    Path("impressions").mkdir(exist_ok=True)
    for number in range(files):
        draw = random.Random(number)  # noqa: S311
        with Path(f"impressions/day-{number + 1:02d}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(impression(draw) for _ in range(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
