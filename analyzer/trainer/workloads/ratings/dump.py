"""Dumps ratings (user, item, stars) to CSV files."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

USERS, ITEMS = 400, 250


def rating(draw: random.Random) -> str:
    """Return one line of a CSV file: user, item, and 1 to 5 stars."""
    user, item = draw.randrange(USERS), draw.randrange(ITEMS)
    stars = 3.0 + ((user * 7 + item * 3) % 5 - 2) * 0.7 + draw.gauss(0.0, 0.4)
    return f"{user},{item},{min(5.0, max(1.0, stars)):.1f}\n"


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="dump")
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--lines", type=int, default=2000)
    args = parser.parse_args()
    Path(args.out).mkdir(exist_ok=True)
    draw = random.Random(5)  # noqa: S311
    for number in range(args.files):
        lines = "".join(rating(draw) for _ in range(args.lines))
        Path(f"{args.out}/ratings_{number}.csv").write_text(lines)


if __name__ == "__main__":
    main()
