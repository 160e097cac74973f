"""Kills the guilty worker, and restarts it shortly after, as a supervisor does."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Restart(Fault):
    """Kill the guilty worker at the step, and restart it `after` seconds later."""

    fits_any_program: ClassVar[bool] = True
    after: float = 1.0
    died: float = field(default=0.0, init=False)
    back: bool = field(default=False, init=False)

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Kill the guilty worker when it reaches the step, and restart it when due."""
        if index != self.guilty or self.back:
            return
        if not self.died and step >= self.step:
            self.died = time.monotonic()
            workers.send(index, Signals.SIGKILL)
        elif self.died and time.monotonic() - self.died > self.after:
            self.back = True
            workers.restart(index)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker ended by SIGKILL and was started again."""
        evidence.life(self.guilty)
        require(self.died, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.died, but=-1)
        count = evidence.require_restarted(self.guilty)
        return f"wait status of SIGKILL; processes after it: {count}"
