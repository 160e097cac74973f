"""Stops the guilty worker as an operator does, by a file that its program checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class RequestStop(Fault):
    """Create a file named STOP, on which the program exits with 0."""

    file: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Store the path of the STOP file."""
        self.file = workspace.folder(self.guilty) / "STOP"

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Create the STOP file when the guilty worker reaches the step."""
        if index == self.guilty and step >= self.step and self.file and not self.struck:
            if index in workers.running():
                self.strike()
            self.file.touch()

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker ended with 0 after the STOP file was created."""
        life = evidence.life(self.guilty)
        require(self.struck, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        require(life.code == 0, f"worker {self.guilty} ended with {life.code}")
        require(life.ended > self.struck, f"worker {self.guilty} had ended before the request")
        return f"request {life.ended - self.struck:.1f} s before worker {self.guilty} ended with 0"
