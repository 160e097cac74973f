"""An operator asks the guilty worker to stop, by the means that its program offers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class RequestStop(Fault):
    """The program exits with 0 if it finds a file named STOP."""

    file: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Remember the path of the file."""
        self.file = workspace.folder(self.guilty) / "STOP"

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """Create the file."""
        if index == self.guilty and step >= self.step and self.file:
            self.file.touch()
