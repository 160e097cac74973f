"""Kills a worker; a supervisor restarts every worker that fails, and the job continues."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING

from analyzer.trainer.faults.shared_folder import SharedFolder
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

BACKUP = "backup"


@dataclass
class Supervised(SharedFolder):
    """Kill the guilty worker; restart failed workers `after` seconds later, at most `times` times each."""

    name: str = BACKUP
    after: float = 1.0
    times: int = 4
    killed: bool = field(default=False, init=False)
    died: dict[int, float] = field(default_factory=dict, init=False)
    starts: dict[int, int] = field(default_factory=dict, init=False)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker save its state in order to resume."""
        return ("--backup", BACKUP)

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Kill the guilty worker once, and restart failed workers when due."""
        if index == self.guilty and step >= self.step and not self.killed:
            self.killed = True
            self.strike()
            workers.send(index, Signals.SIGKILL)
        if self._has_ended_badly(workers, index):
            self.died.setdefault(index, time.monotonic())
        if index in self.died and time.monotonic() - self.died[index] > self.after:
            del self.died[index]
            self.starts[index] = self.starts.get(index, 0) + 1
            self.before_restart(index)
            workers.restart(index)

    def before_restart(self, index: int) -> None:
        """Change a worker's files before it is restarted; does nothing here, subclasses override it."""

    def _has_ended_badly(self, workers: WorkerProcesses, index: int) -> bool:
        return bool(workers.exit_codes()[index]) and self.starts.get(index, 0) < self.times

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker ended by SIGKILL and was started again."""
        evidence.life(self.guilty)
        require(self.killed, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        count = evidence.require_restarted(self.guilty)
        return f"wait status of SIGKILL; processes after it: {count}"

    def is_busy(self) -> bool:
        """Return True while a restart is pending."""
        return bool(self.died)
