"""Where the time of a step changed for good, by us and by ruptures, on series of which the truth is known.

ruptures brings scipy along, and takes longer to import than a whole diagnosis may: it lives in another
environment, whose interpreter is the argument. Prints how often each finds the change, how far off, and how
often it sees one where there is none: in jitter like that of a loaded machine, and in the recorded runs.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import polars as pl

from analyzer.derive.training.step_rate import Timed, changes
from analyzer.discover import discover
from analyzer.pipeline import load_rules, load_tables

ROOT = Path(__file__).resolve().parent.parent
SERIES = 60
FEWEST, FACTOR = 8, 1.5
"""Steps on either side of a change, and how much longer or shorter they must take: as we ask for."""

PEER = """
import json, sys
import numpy as np, ruptures
from statistics import median
for line in sys.stdin:
    values = json.loads(line)
    logs = np.log(np.array(values))
    noise = np.median(np.abs(np.diff(logs))) / 0.954
    search = ruptures.Pelt(model="l2", min_size=%d, jump=1).fit(logs)
    ends = search.predict(pen=5 * np.log(len(logs)) * max(noise, 1e-3) ** 2)
    parts = [median(values[a:b]) for a, b in zip([0, *ends], ends)]
    found = [e for e, one, other in zip(ends, parts, parts[1:]) if max(one / other, other / one) >= %g]
    print(json.dumps(found))
""" % (FEWEST, FACTOR)  # noqa: UP031 - a program full of braces


def main() -> None:
    """Compare and print."""
    python = sys.argv[1]
    for factor in (2.0, 3.0):
        series, truth = zip(*(changed(seed, factor) for seed in range(SERIES)), strict=True)
        for name, found in (("mwms-analyze", ours(series)), ("ruptures", theirs(series, python))):
            hits = [
                min(abs(at - where) for at in each) for each, where in zip(found, truth, strict=True) if each
            ]
            near = sum(off <= FEWEST for off in hits)
            more = sum(len(each) > 1 for each in found)
            print(  # noqa: T201
                f"{name:13} steps {factor:g} times as long from some step on: found in {near} of {SERIES}, "
                f"{median(hits):g} steps off, {more} with more than one"
            )
    for what, quiet in (
        ("jitter alone", [jitter(seed, 150) for seed in range(SERIES)]),
        ("recorded runs", recorded()),
    ):
        for name, found in (("mwms-analyze", ours(quiet)), ("ruptures", theirs(quiet, python))):
            print(f"{name:13} {what}: a change in {sum(map(bool, found))} of {len(quiet)}")  # noqa: T201


def jitter(seed: int, steps: int, seconds: float = 0.1) -> list[float]:
    """Equal steps on a loaded machine: a tail of slow ones."""
    chance = random.Random(seed)  # noqa: S311 - to be repeatable
    return [seconds * chance.lognormvariate(0, 0.4) for _ in range(steps)]


def changed(seed: int, factor: float) -> tuple[list[float], int]:
    """A series and the first step that takes longer."""
    where = random.Random(seed).randrange(20, 130)  # noqa: S311 - to be repeatable
    return jitter(seed, where) + jitter(-seed - 1, 150 - where, 0.1 * factor), where


def recorded() -> list[list[float]]:
    """The steps of every healthy sample run that dates enough of them."""
    pack, found = load_rules(), []
    for home in sorted((ROOT / "sample_runs").glob("healthy-*/run")):
        scalars = load_tables(discover([home]), pack)["scalars"].filter(
            (pl.col("origin") == "event_file") & pl.col("tag").is_in(["loss", "batch_loss"])
        )
        for _, own in scalars.group_by("worker", "source", maintain_order=True):
            gaps = own["time"].sort().diff().drop_nulls().to_list()
            if len(gaps) >= 2 * FEWEST and min(gaps) > 0:
                found.append(gaps)
    return found


def ours(series: Sequence[Sequence[float]]) -> list[list[int]]:
    """Where we see changes."""
    return [[one.step for one in changes([Timed(*each) for each in enumerate(values)])] for values in series]


def theirs(series: Sequence[Sequence[float]], python: str) -> list[list[int]]:
    """Where ruptures does, by the mean of the logarithms."""
    told = "".join(f"{json.dumps(list(values))}\n" for values in series)
    ran = subprocess.run([python, "-c", PEER], input=told, capture_output=True, text=True, check=True)  # noqa: S603
    return [json.loads(line) for line in ran.stdout.splitlines()]


if __name__ == "__main__":
    main()
