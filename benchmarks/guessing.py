"""What can be guessed from recordings without understanding them: `python -m benchmarks.guessing`.

Prints how many lines of their programs two recordings share, and how often a rule of thumb (the largest log,
the first name, the first error …) hits the guilty worker, beside a draw among the workers that left a log.
"""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from statistics import median

import polars as pl

from analyzer.discover import discover
from analyzer.ingest.raw_lines import line_templates
from analyzer.model.run import Tables
from analyzer.pipeline import load_rules, load_tables
from analyzer.trainer.catalogue import SAMPLE_RUNS, find_scenario
from analyzer.trainer.scoring.recordings_table import origin_of

GENERIC = re.compile(r'|File "<path>", line <n>, in \w+|main\(\)|[{}\[\],]*')
"""Lines that any Python program may print: frames of tracebacks, the call of `main`, brackets."""
GENERATE = Path(__file__).parents[1] / "docs" / "generate.py"
Guess = Callable[[pl.DataFrame, Tables], pl.DataFrame]


def _by(column: str, *, last: bool = False) -> Guess:
    """Return a rule of thumb: the first or last worker when the logs are sorted by a column."""
    return lambda logs, _: logs.drop_nulls(column).sort(column, descending=last, maintain_order=True)


def _by_error(*, last: bool = False) -> Guess:
    """Return a rule of thumb: the worker that logged the first or last error."""

    def guess(_: pl.DataFrame, tables: Tables) -> pl.DataFrame:
        grave = pl.col("level").is_in(["E", "F"]) & pl.col("worker").is_not_null()
        return tables["records"].filter(grave).drop_nulls("near").sort("near", descending=last)

    return guess


GUESSES: Mapping[str, Guess] = {
    "smallest log": _by("bytes"),
    "largest log": _by("bytes", last=True),
    "fewest lines": _by("lines"),
    "first name in the directory": _by("source"),
    "last name in the directory": _by("source", last=True),
    "first to begin": _by("first_time"),
    "last to begin": _by("first_time", last=True),
    "first to end": _by("last_time"),
    "last to end": _by("last_time", last=True),
    "first error": _by_error(),
    "last error": _by_error(last=True),
}


def main() -> None:
    """Print both tables, of all recordings and of those that have a witness."""
    recordings = sorted(path.parent for path in SAMPLE_RUNS.glob("*/expected.json"))
    proven = [home for home in recordings if "witness" in origin_of(home)]
    print("\n".join([*shared_lines(proven), "", *hits(recordings)]))  # noqa: T201


def shared_lines(recordings: Iterable[Path]) -> Iterator[str]:
    """Yield a table of the program's own line templates that two recordings share, by kind of pair."""
    ours = runpy.run_path(str(GENERATE))["printed_by_trainer"]()
    every = {home: line_templates(discover([home / "run"])) for home in recordings}
    own = {
        home: {line for line in lines if ours.fullmatch(line) and not GENERIC.fullmatch(line)}
        for home, lines in every.items()
    }
    pairs: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
    for one, other in combinations(every, 2):
        common = own[one] & own[other]
        share = len(common) / max(1, min(len(own[one]), len(own[other])))
        pairs[_program(one) == _program(other)].append((len(common), share))
    yield "| two recordings of | pairs | own lines of the program that both print: median, most | share |"
    yield "|---|---|---|---|"
    for same, name in ((True, "one program"), (False, "two programs")):
        counts = [count for count, _ in pairs[same]]
        share = median(share for _, share in pairs[same])
        yield f"| {name} | {len(counts)} | {median(counts):g}, {max(counts)} | {share:.2f} |"


def _program(home: Path) -> str:
    """Return the workload of a recording; empty for the load forecast."""
    return find_scenario(origin_of(home)["scenario"].rpartition("/")[2].removesuffix(".yaml")).workload


def hits(recordings: Iterable[Path]) -> Iterator[str]:
    """Yield a table of how often each rule of thumb hits the one guilty worker, beside a draw."""
    rules = load_rules()
    found: dict[str, int] = dict.fromkeys(GUESSES, 0)
    cases, chance = 0, 0.0
    for home in recordings:
        culprits = json.loads((home / "expected.json").read_text())["culprits"]
        tables = load_tables(discover([home / "run"]), rules)
        logs = tables["sources"].filter((pl.col("kind") == "log") & pl.col("worker").is_not_null())
        workers = set(logs["worker"])
        if len(culprits) != 1 or len(workers) < 2 or culprits[0] not in workers:
            continue
        cases, chance = cases + 1, chance + 1 / len(workers)
        for name, guess in GUESSES.items():
            found[name] += guess(logs, tables)["worker"].to_list()[:1] == culprits
    yield f"| rule of thumb | hits of {cases} |"
    yield "|---|---|"
    yield f"| a draw | {chance:.0f} expected |"
    yield from (f"| {name} | {count} |" for name, count in found.items())


if __name__ == "__main__":
    main()
