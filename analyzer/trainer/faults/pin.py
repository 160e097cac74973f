"""Binds the guilty worker to one core that other processes use too."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.busy_machine import BusyMachine
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Pin(BusyMachine):
    """Run `processes` other processes on the guilty worker's core until the job ends."""

    processes: int = 3
    cores: int = field(default=0, init=False)

    def where(self) -> Sequence[str]:
        """Return the command prefix that binds a process to the core."""
        return ("taskset", "-c", str(min(os.sched_getaffinity(0))))

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:
        """Return the command, with the prefix that binds the guilty worker to the core."""
        return (*self.where(), *usual) if index == self.guilty else usual

    def observe(self, workers: WorkerProcesses) -> None:
        """Record how many cores the guilty worker may use."""
        super().observe(workers)
        for life in workers.alive():
            if life.index == self.guilty:
                with suppress(ProcessLookupError):
                    self.cores = len(os.sched_getaffinity(life.pid))

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker had one core of several, and that other processes computed."""
        evidence.life(self.guilty)
        require(len(os.sched_getaffinity(0)) > 1, "this machine has one core for all")
        require(self.cores == 1, f"worker {self.guilty} may use {self.cores} cores")
        return f"one core for worker {self.guilty}; {super().witness(evidence)}"
