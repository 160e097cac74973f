"""A value in the guilty worker's own data file that is not what the program expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class BadValue(Fault):
    """`n/a` makes the parser raise; `nan` is parsed and poisons the loss."""

    value: str = "n/a"
    column: int = 17

    def prepare(self, workspace: Workspace) -> None:
        """Write the value into a row that the guilty worker reads at the step."""
        path = workspace.part_file(self.guilty)
        rows = path.read_text().splitlines()
        row = (self.step - 1) * workspace.scenario.batch_size + 5
        cells = rows[row].split(",")
        cells[self.column] = self.value
        rows[row] = ",".join(cells)
        path.write_text("\n".join(rows) + "\n")
