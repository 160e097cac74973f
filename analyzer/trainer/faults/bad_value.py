"""Replaces one value in the guilty worker's data file by an invalid one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.data_read import DataRead
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class BadValue(Fault):
    """Write `value` into one row: `n/a` makes the parser raise; `nan` is parsed and makes the loss NaN."""

    value: str = "n/a"
    column: int = 17
    changed: bool = field(default=False, init=False)
    data: DataRead | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Write the value into a row that the guilty worker reads at the step."""
        path = workspace.part_file(self.guilty)
        rows = path.read_text().splitlines()
        row = (self.step - 1) * workspace.scenario.batch_size + 5
        cells = rows[row].split(",")
        self.changed = cells[self.column] != self.value
        cells[self.column] = self.value
        rows[row] = ",".join(cells)
        path.write_text("\n".join(rows) + "\n")
        self.data = DataRead.before(self.step, workspace, self.guilty)

    def observe(self, workers: WorkerProcesses) -> None:
        """Record how far the guilty worker has read its data."""
        if self.data:
            self.data.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the value was replaced and that the guilty worker read up to its row."""
        evidence.life(self.guilty)
        require(self.changed, f"the value was {self.value} already")
        require(self.data, "no data were written")
        return self.data.require() if self.data else ""

    def cleanup(self) -> None:
        """Stop watching the data file."""
        if self.data:
            self.data.close()
