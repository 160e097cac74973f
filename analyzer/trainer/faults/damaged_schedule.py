"""Damages the guilty worker's learning-rate schedule, as a spreadsheet that saves semicolons does."""

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
class DamagedSchedule(Fault):
    """Replace a comma by a semicolon, so that the program fails to split the line."""

    damaged: bool = field(default=False, init=False)
    path: Path | None = field(default=None, init=False)
    data: DataRead | None = field(default=None, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Replace the comma by a semicolon in the line of the step."""
        path = workspace.folder(self.guilty) / "config/schedule.csv"
        lines = path.read_text().splitlines()
        self.damaged = "," in lines[self.step - 1]
        lines[self.step - 1] = lines[self.step - 1].replace(",", ";")
        path.write_text("\n".join(lines) + "\n")
        self.path = path
        self.reads.watch(path)
        self.data = DataRead.before(self.step, workspace, self.guilty)

    def observe(self, workers: WorkerProcesses) -> None:
        """Record how far the guilty worker has read its data."""
        if self.data:
            self.data.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker read the damaged schedule, reached the step and failed."""
        evidence.life(self.guilty)
        require(self.damaged, "the line has no comma")
        require(self.path and self.reads.saw(self.path), f"worker {self.guilty} never read its schedule")
        ended = evidence.require_raised(self.guilty)
        return f"schedule read; {self.data.require() if self.data else ''}; {ended}"

    def cleanup(self) -> None:
        """Stop watching the schedule and the data file."""
        self.reads.close()
        if self.data:
            self.data.close()
