"""Raises the learning rate in every worker's schedule, from a step on or for a number of steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.data_read import DataRead
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class LearningRate(Fault):
    """Set the rate to `rate` from the step on, for `steps` steps (0: to the end)."""

    rate: float = 10.0
    steps: int = 0
    changed: bool = field(default=False, init=False)
    path: Path | None = field(default=None, init=False)
    data: DataRead | None = field(default=None, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Write the rate into every worker's schedule."""
        for index in range(workspace.scenario.workers):
            path = workspace.folder(index) / "config/schedule.csv"
            lines = path.read_text().splitlines()
            end = self.step - 1 + self.steps if self.steps else len(lines)
            for place in range(self.step - 1, min(end, len(lines))):
                self.changed |= float(lines[place].split(",")[1]) != self.rate
                lines[place] = f"{place + 1},{self.rate}"
            path.write_text("\n".join(lines) + "\n")
        self.path = workspace.folder(self.guilty) / "config/schedule.csv"
        self.reads.watch(self.path)
        self.data = DataRead.before(self.step, workspace, self.guilty)

    def observe(self, workers: WorkerProcesses) -> None:
        """Record how far the guilty worker has read its data."""
        if self.data:
            self.data.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the rate was changed and that the guilty worker reached the step."""
        evidence.life(self.guilty)
        require(self.changed, f"the rate was {self.rate} already")
        require(self.path and self.reads.saw(self.path), f"worker {self.guilty} never read its schedule")
        return f"schedule read; {self.data.require() if self.data else ''}"

    def cleanup(self) -> None:
        """Stop watching the schedule and the data file."""
        self.reads.close()
        if self.data:
            self.data.close()
