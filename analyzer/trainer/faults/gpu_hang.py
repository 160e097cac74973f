"""Makes the guilty worker's GPU compute without end, by arguments of the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.arguments import Arguments
from analyzer.trainer.gpus.samples import GpuSamples
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

BUSY_PERCENT = 90.0
LAST = 5
"""Number of samples at the end in which the GPU must be busy."""


@dataclass
class GpuHang(Arguments):
    """Pass the arguments in `add`, and prove that the GPU is busy to the end while its worker lives."""

    samples: GpuSamples = field(default_factory=lambda: GpuSamples("utilization.gpu"), init=False)

    def observe(self, workers: WorkerProcesses) -> None:
        """Sample the utilization."""
        self.samples.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof by the driver's readings that the GPU was busy in the last samples."""
        proof = super().witness(evidence)
        require(evidence.life(self.guilty).code is None, f"worker {self.guilty} ended")
        last = self.samples.of(self.guilty)[-LAST:]
        used = f"utilization of the GPU at the end: {', '.join(f'{one:.0f} %' for one in last) or 'unknown'}"
        require(len(last) == LAST and min(last) >= BUSY_PERCENT, used)
        return f"{proof}; {used}"
