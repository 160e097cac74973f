"""Many recordings: scenarios, versions and guilty workers crossed, without those that are there already."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.scenario import Scenario


@dataclass(frozen=True)
class Cell:
    """One recording to be made."""

    scenario: Scenario
    interpreter: Interpreter

    @property
    def name(self) -> str:
        """As in `worker-killed-tf215-2`: scenario, version, guilty worker."""
        major, minor, *_ = self.interpreter.tensorflow.split(".")
        guilty = f"-{self.scenario.guilty}" if self.scenario.blames else ""
        return f"{self.scenario.name}-tf{major}{minor}{guilty}"


def cells(
    names: Sequence[str],
    interpreters: Sequence[Interpreter],
    guilty: Sequence[int],
    find: Callable[[str, int | None], Scenario],
) -> Iterator[Cell]:
    """Cross them; without a list of guilty workers each scenario names its own."""
    for name, interpreter in product(names, interpreters):
        first = find(name, None)
        for index in guilty if first.blames and guilty else [None]:
            if index is None or index < first.workers:
                yield Cell(find(name, index), interpreter)


def missing(wanted: Iterator[Cell], home: Path) -> list[Cell]:
    """Return those that are not yet there."""
    return [cell for cell in wanted if not (home / cell.name / "expected.json").is_file()]
