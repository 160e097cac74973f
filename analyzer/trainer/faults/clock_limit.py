"""Limits the clock of the guilty worker's GPUs, which makes it a straggler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.gpus.nvidia_smi import ask, devices_of
from analyzer.trainer.gpus.samples import GpuSamples
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class ClockLimit(Fault):
    """Lock the GPU clock to at most `megahertz` from the step on, with `nvidia-smi -lgc`, as root."""

    fits_any_program: ClassVar[bool] = True
    megahertz: int = 300
    limited: tuple[str, ...] = field(default=(), init=False)
    samples: GpuSamples = field(default_factory=lambda: GpuSamples("clocks.sm"), init=False)

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Set the limit when the guilty worker reaches the step."""
        if index != self.guilty or step < self.step or self.struck:
            return
        self.strike()
        devices = devices_of(workers.processes[index].pid)
        self.limited = tuple(device for device in devices if ask("-i", device, "-lgc", f"0,{self.megahertz}"))

    def observe(self, workers: WorkerProcesses) -> None:
        """Sample the clocks of all workers once the limit is set."""
        if self.limited:
            self.samples.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof by the driver's readings that the guilty worker's clock was low, and another's not."""
        require(self.limited, f"no clock limit was set on a GPU of worker {self.guilty}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        own = max(self.samples.of(self.guilty), default=0.0)
        others = [max(self.samples.of(index), default=0.0) for index in self.samples.values]
        fastest = max(others, default=0.0)
        proof = f"clock of worker {self.guilty} at most {own:.0f} MHz, of the fastest {fastest:.0f}"
        # drivers round to the next clock that the GPU supports
        require(0 < own < 1.2 * self.megahertz < fastest, proof)
        return proof

    def cleanup(self) -> None:
        """Remove the limit."""
        for device in self.limited:
            ask("-i", device, "-rgc")
