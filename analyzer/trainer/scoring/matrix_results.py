"""Stores the result of each recording of a matrix, and tabulates the results by scenario."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from analyzer.trainer.catalogue import all_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario

NAME = "matrix.csv"
"""Name of the results file in the directory of the recordings."""
HEAD = "| scenario | TensorFlow | on | witness | truth | first answer |"
SUMMARY = "| scenarios | witness held | refused | not run | cause right | culprit right |"


class MatrixResult(NamedTuple):
    """Result of making one recording, and the analyzer's first answer on it; all fields are strings."""

    recording: str
    scenario: str
    tensorflow: str
    date: str
    witness: str
    refused: str = ""
    """Reason why there is no recording; the fields of the answer are then empty."""
    truth: str = ""
    said: str = ""
    confidence: str = ""
    cause: str = ""
    culprit: str = ""


def load(path: Path) -> dict[str, MatrixResult]:
    """Return the last result of each recording by name; empty if there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["recording"]: MatrixResult(**row) for row in csv.DictReader(file)}


def append(path: Path, result: MatrixResult) -> None:
    """Add a row to the file, which several processes may do at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([MatrixResult._fields, result] if not file.tell() else [result])


def matrix_table(results: Iterable[MatrixResult]) -> str:
    """Return the counts, the scenarios that have not run, and a table of the others' latest results."""
    latest = {result.scenario: result for result in sorted(results, key=lambda result: result.date)}
    scenarios = [scenario for scenario in all_scenarios() if scenario.name in latest]
    absent = [scenario for scenario in all_scenarios() if scenario.name not in latest]
    rows = [_row(latest[scenario.name]) for scenario in scenarios]
    lines = [
        *_summary(list(latest.values()), len(absent)),
        "",
        *_absent(absent),
        HEAD,
        "|---" * 6 + "|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _summary(results: Sequence[MatrixResult], absent: int) -> Iterator[str]:
    held = [result for result in results if not result.refused]
    causes, culprits = (Counter(getattr(one, part) for one in held) for part in ("cause", "culprit"))
    cells = (
        len(results) + absent,
        len(held),
        len(results) - len(held),
        absent,
        causes["right"],
        culprits["right"],
    )
    yield from (SUMMARY, "|---" * 6 + "|", f"| {' | '.join(map(str, cells))} |")


def _row(result: MatrixResult) -> str:
    right = result.cause == result.culprit == "right"
    answer = "right" if right else f"{result.said}: cause {result.cause}, culprit {result.culprit}"
    cells = (
        (f"refused: {result.refused}", "", "") if result.refused else (result.witness, result.truth, answer)
    )
    return f"| {' | '.join((result.scenario, result.tensorflow, result.date, *cells))} |"


def _absent(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield a paragraph on scenarios that have not run: those that need GPUs, and others."""
    for needs, why in ((True, "Never run, for they need GPUs"), (False, "Not run yet")):
        names = ", ".join(f"`{scenario.name}`" for scenario in scenarios if scenario.needs_gpu is needs)
        if names:
            yield from (f"{why}: {names}.", "")
