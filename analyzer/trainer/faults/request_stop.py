"""Somebody asks the guilty worker to stop, in the way its program provides for."""

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
    """The program leaves with exit code 0 when it finds a file named STOP."""

    file: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Note where the file has to be."""
        self.file = workspace.folder(self.guilty) / "STOP"

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """Put the file there."""
        if index == self.guilty and step >= self.step and self.file:
            self.file.touch()
