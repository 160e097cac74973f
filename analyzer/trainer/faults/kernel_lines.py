"""Aborts the guilty worker as after a hardware error of its GPU, and replays the kernel's lines."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING

from analyzer.trainer.faults.send_signal import SendSignal
from analyzer.trainer.gpus.nvidia_smi import ask, devices_of
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

BUS = "0000:3b:00"
"""PCI address if the driver does not say."""


@dataclass
class KernelLines(SendSignal):
    """Send SIGABRT at the step and leave `lines`, as the driver printed them elsewhere, in `kernel.log`.

    `{bus}` and `{pid}` in the lines become the PCI address of the GPU and the process of the worker.
    A hardware error cannot be caused, so what kernel and process leave of one is imitated.
    """

    signal: str = "ABRT"
    lines: list[str] = field(default_factory=list)
    log: bytes = field(default=b"", init=False)

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Write the lines, then send the signal, when the guilty worker reaches the step."""
        if index == self.guilty and step >= self.step and not self.struck:
            pid = workers.processes[index].pid
            bus = next(map(_bus, devices_of(pid)), BUS)
            at = time.strftime("%a %b %d %H:%M:%S %Y")
            self.log = "".join(f"[{at}] {line.format(bus=bus, pid=pid)}\n" for line in self.lines).encode()
        super().on_step(workers, index, step)

    def leaves(self) -> Mapping[str, bytes]:
        """Return the replayed lines as `kernel.log`."""
        return {"kernel.log": self.log} if self.log else {}

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the worker ended by the signal; say that the kernel's lines are replayed."""
        proof = super().witness(evidence)
        require(self.log, "no kernel lines were given")
        code = evidence.life(self.guilty).code
        require(code == -Signals[f"SIG{self.signal}"], f"worker {self.guilty} ended with {code}")
        return f"{proof}; the {len(self.lines)} lines of kernel.log are replayed, not of this kernel"


def _bus(device: str) -> str:
    """Return the PCI address of a GPU as the kernel prints it: `0000:3b:00`."""
    bus = ask("--query-gpu=pci.bus_id", "--format=csv,noheader", "-i", device).strip().lower()
    return bus[-12:].partition(".")[0] or BUS
