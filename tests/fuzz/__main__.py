"""`python -m tests.fuzz [TARGET …]`: many mutated inputs for each reader, by hand."""

from __future__ import annotations

import faulthandler
import re
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import mkdtemp

from tests.fuzz.harness import Tally, fuzz
from tests.fuzz.target import names, target

MOST_SHOWN = 3
"""Inputs named of each kind of failure."""


def main() -> int:
    """Run it; 1 where an input shows a mistake of ours."""
    parser = ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(names())}; all by default")
    parser.add_argument("--inputs", type=int, default=2_000, help="mutated inputs for each target")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1, help="another one gives other inputs")
    parser.add_argument("--keep", type=Path, help="directory for the inputs that show a mistake")
    given = parser.parse_args()
    faulthandler.enable()
    scratch = given.keep or Path(mkdtemp(prefix="mwms-fuzz-"))
    numbers = range(given.first, given.first + given.inputs)
    print(
        f"{'target':<12}{'inputs':>8}{'damaged':>9}{'skipped':>9}{'reports':>9}{'slowest':>10}{'failures':>10}"
    )
    tallies = [_shown(fuzz(target(name), numbers, given.seed, scratch)) for name in given.targets or names()]
    for tally in tallies:
        for what, paths in _alike(tally).items():
            print(f"{tally.target}, {len(paths)} times: {what}", *paths[:MOST_SHOWN], sep="\n    ")
    return 1 if any(tally.failures for tally in tallies) else 0


def _alike(tally: Tally) -> dict[str, list[str]]:
    """The failures by what is wrong, numbers and quotations aside; of each, the inputs that show it."""
    found: dict[str, tuple[str, list[str]]] = {}
    for path, faults in tally.failures.items():
        for what in faults:
            found.setdefault(re.sub(r"\d+|'.*|\".*", "", what)[:80], (what, []))[1].append(path)
    return dict(found.values())


def _shown(tally: Tally) -> Tally:
    counts = f"{tally.inputs:>8}{tally.damaged:>9}{tally.skipped:>9}{tally.reported:>9}"
    slowest = f"{tally.slowest * 1000:.0f} ms"
    print(f"{tally.target:<12}{counts}{slowest:>10}{len(tally.failures):>10}", flush=True)
    return tally


sys.exit(main())
