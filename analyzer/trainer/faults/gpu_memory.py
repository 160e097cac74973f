"""Makes the guilty worker use up the memory of its GPU, by arguments of the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.arguments import Arguments
from analyzer.trainer.gpus.nvidia_smi import reading
from analyzer.trainer.gpus.samples import GpuSamples
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class GpuMemory(Arguments):
    """Pass the arguments in `add`, and prove that the memory in use reached `share` of the GPU's."""

    share: float = 0.5
    samples: GpuSamples = field(default_factory=lambda: GpuSamples("memory.used"), init=False)

    def observe(self, workers: WorkerProcesses) -> None:
        """Sample the memory in use."""
        self.samples.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof by the driver's readings that the memory was used up and that the worker failed."""
        proof = super().witness(evidence)
        devices = self.samples.devices.get(self.guilty, ())
        peak, total = max(self.samples.of(self.guilty), default=0.0), _total(devices)
        used = f"{peak:,.0f} of {total:,.0f} MiB of the GPU in use"
        require(total and peak >= self.share * total, used)
        return f"{proof}; {used}; {evidence.require_ended_badly(self.guilty)}"


def _total(devices: tuple[str, ...]) -> float:
    """Return the memory of the smallest of some GPUs in MiB; 0 if the driver does not say."""
    return min((reading(device, "memory.total") or 0.0 for device in devices), default=0.0)
