"""Writes `retry_after` (s) into the guilty worker's statistics file; its program then sleeps that long."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class ComeBackLater(Fault):
    """Ask the program to wait `seconds`; meanwhile the other workers wait in the all-reduce."""

    seconds: float = 900.0
    path: Path | None = field(default=None, init=False)
    request: Path = field(default=Path(), init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Store the path of the guilty worker's statistics file."""
        self.path = workspace.folder(self.guilty) / "statistics/statistics.json"

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker read its statistics file at each step."""
        return ("--refresh-every", "1")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """Write the request when the guilty worker reaches the step."""
        if index == self.guilty and step >= self.step and self.path:
            statistics = json.loads(self.path.read_text()) | {"retry_after": self.seconds}
            fresh = self.request = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(statistics) + "\n")
            self.strike()
            self.reads.watch(fresh)
            fresh.replace(self.path)
            self.path = None

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker opened the file with the request to wait."""
        evidence.life(self.guilty)
        require(self.struck, f"worker {self.guilty} never came to step {self.step}")
        require(self.seconds > 0, "the file asks for no time")
        require(self.reads.saw(self.request), f"worker {self.guilty} never read the request")
        evidence.require_nobody_ended_badly(before=self.struck, but=self.guilty)
        return f"request read by worker {self.guilty}"

    def cleanup(self) -> None:
        """Stop watching the statistics file."""
        self.reads.close()
