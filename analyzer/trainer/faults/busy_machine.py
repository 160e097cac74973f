"""Runs other processes that compete for the machine's cores; the job gets slow, which is no fault."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from subprocess import Popen
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class BusyMachine(Fault):
    """Run `processes` computing processes until the job ends."""

    fits_any_program: ClassVar[bool] = True
    processes: int = 2
    others: list[Popen[bytes]] = field(default_factory=list, init=False)
    computed: float = field(default=0.0, init=False)

    def prepare(self, workspace: Workspace) -> None:  # noqa: ARG002 - as the job calls it
        """Start the processes; each ends by itself if the trainer is killed."""
        loop = f"while [ -d /proc/{os.getpid()} ]; do :; done"
        for _ in range(self.processes):
            self.others.append(Popen([*self.where(), "/bin/sh", "-c", loop]))  # noqa: S603 - ours

    def where(self) -> Sequence[str]:
        """Return the command that binds the competing processes to cores, as `taskset -c 0`; here none."""
        return ()

    def observe(self, workers: WorkerProcesses) -> None:  # noqa: ARG002 - as the job calls it
        """Record the processor time of the competing processes, in seconds."""
        self.computed = sum(proc.seconds_computed(other.pid) for other in self.others)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the competing processes computed for more than a tenth of the job's duration."""
        seconds = time.monotonic() - evidence.life(0).started
        proof = f"the other processes computed {self.computed:.1f} s in {seconds:.1f} s"
        require(self.computed > seconds / 10, proof)
        return proof

    def cleanup(self) -> None:
        """End the processes."""
        for other in self.others:
            other.kill()
            other.wait()
