"""Lists recordings to make: scenarios × TensorFlow versions × guilty workers × numbers of workers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from analyzer.trainer.catalogue import find_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.interpreter import Interpreter
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


def missing(wanted: Iterator[Cell], home: Path) -> list[Cell]:
    """Return the cells without a recording below `home`."""
    return [cell for cell in wanted if not (home / cell.name / "expected.json").is_file()]
