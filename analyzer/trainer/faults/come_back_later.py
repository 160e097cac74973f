"""The guilty worker's statistics file asks for a retry later, so its program sleeps."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class ComeBackLater(Fault):
    """It asks to wait `seconds`; the other workers wait in their collective."""

    seconds: float = 900.0
    path: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Remember the path of the file."""
        self.path = workspace.folder(self.guilty) / "statistics/statistics.json"

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker read the file at each step."""
        return ("--refresh-every", "1")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """Write the request when the guilty worker reaches the step."""
        if index == self.guilty and step >= self.step and self.path:
            told = json.loads(self.path.read_text()) | {"retry_after": self.seconds}
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(told) + "\n")
            fresh.replace(self.path)
            self.path = None
