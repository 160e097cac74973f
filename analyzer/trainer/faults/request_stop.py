"""An operator asks the guilty worker to stop, by the means that its program offers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class RequestStop(Fault):
    """The program exits with 0 if it finds a file named STOP."""

    file: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Remember the path of the file."""
        self.file = workspace.folder(self.guilty) / "STOP"

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Create the file."""
        if index == self.guilty and step >= self.step and self.file and not self.struck:
            if index in workers.running():
                self.strike()
            self.file.touch()

    def witness(self, evidence: Evidence) -> str:
        """Require that the request was there before the worker ended, and that it ended with 0."""
        life = evidence.life(self.guilty)
        require(self.struck, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        require(life.code == 0, f"worker {self.guilty} ended with {life.code}")
        require(life.ended > self.struck, f"worker {self.guilty} had ended before the request")
        return f"request {life.ended - self.struck:.1f} s before worker {self.guilty} ended with 0"
