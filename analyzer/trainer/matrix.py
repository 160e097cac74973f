"""Makes recordings of scenarios × TensorFlow versions × guilty workers × numbers of workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from math import inf
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.catalogue import find_scenario
from analyzer.trainer.record import Recorder
from analyzer.trainer.scoring.matrix_results import MatrixResult
from analyzer.trainer.scoring.recordings_table import origin_of
from analyzer.trainer.scoring.scoreboard import score_all

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.scenario import Scenario


@dataclass(frozen=True)
class Cell:
    """One recording to make."""

    scenario: Scenario
    interpreter: Interpreter
    name: str
    """Scenario, version, number of workers (if given) and guilty worker: `worker-killed-tf215-4w-2`."""


def cells(
    names: Sequence[str], interpreters: Sequence[Interpreter], guilty: Sequence[int], workers: Sequence[int]
) -> Iterator[Cell]:
    """Yield a cell per combination; without `guilty` or `workers`, use the values of the scenario."""
    for name, interpreter, count in product(names, interpreters, workers or [0]):
        first = find_scenario(name)
        many = count or first.workers
        for index in guilty if first.blames and guilty else [first.guilty]:
            if index < many:
                scenario = find_scenario(name, guilty=index if first.blames else None, workers=many)
                yield Cell(scenario, interpreter, _name(scenario, interpreter, counted=bool(count)))


def _name(scenario: Scenario, interpreter: Interpreter, *, counted: bool) -> str:
    major, minor, *_ = interpreter.tensorflow.split(".")
    parts = [scenario.name, f"tf{major}{minor}"]
    parts += [f"{scenario.workers}w"] * counted
    parts += [str(scenario.guilty)] * scenario.blames
    return "-".join(parts)


def missing(wanted: Iterator[Cell], home: Path, tried: Collection[str] = ()) -> list[Cell]:
    """Return the cells without a recording below `home` whose names are not in `tried`."""
    absent = (cell for cell in wanted if not (home / cell.name / "expected.json").is_file())
    return [cell for cell in absent if cell.name not in tried]


def record_cell(
    cell: Cell, observer: JobObserver, home: Path, other: Interpreter | None = None
) -> MatrixResult:
    """Record a cell below `home` and score the answer; the result tells why if no recording could be made.

    `other` is another Python installation for the guilty worker, if any.
    """
    target = home / cell.name
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    begun = MatrixResult(cell.name, cell.scenario.name, cell.interpreter.tensorflow, date, "")
    try:
        Recorder(cell.interpreter, "auto", observer, other).record(cell.scenario, target, inf)
    except UserError as error:
        return begun._replace(refused=" ".join(str(error).split()))
    [score] = score_all(home, cell.name)
    return begun._replace(
        witness=origin_of(target)["witness"],
        truth=score.truth,
        said=score.said,
        confidence=f"{score.confidence:.2f}",
        cause=score.cause,
        culprit=score.culprit,
    )
