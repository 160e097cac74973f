"""Holds the lock that the guilty worker takes before a step."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class HoldLock(Fault):
    """Hold the lock until the job ends: the guilty worker waits for it, its peers in the all-reduce."""

    held: ExitStack = field(default_factory=ExitStack, init=False)
    path: Path | None = field(default=None, init=False)
    waited: bool = field(default=False, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Take the lock beside the guilty worker's statistics file."""
        self.path = workspace.folder(self.guilty) / "statistics/.lock"
        fcntl.flock(self.held.enter_context(self.path.open("w")), fcntl.LOCK_EX)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker take its lock for the first time at the step."""
        return ("--refresh-every", str(self.step))

    def cleanup(self) -> None:
        """Release the lock."""
        self.held.close()

    def observe(self, workers: WorkerProcesses) -> None:
        """Record whether the guilty worker waits for the lock."""
        for life in workers.alive():
            if life.index == self.guilty and self.path and proc.waits_for_lock(life.pid, self.path):
                self.waited = True

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc/locks` that the guilty worker waited for the lock."""
        evidence.life(self.guilty)
        require(self.waited, f"worker {self.guilty} never waited for the lock")
        return f"worker {self.guilty} waits for the lock in /proc/locks"
