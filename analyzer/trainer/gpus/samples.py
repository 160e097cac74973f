"""Samples the driver's readings of each worker's GPUs while the job runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.gpus.nvidia_smi import devices_of, reading

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses

INTERVAL_SECONDS = 1.0
"""Time between two samples, since each starts `nvidia-smi`."""


@dataclass
class GpuSamples:
    """Values of one quantity of the GPUs of each worker, such as `memory.used` (MiB) or `clocks.sm` (MHz)."""

    quantity: str
    devices: dict[int, tuple[str, ...]] = field(default_factory=dict, init=False)
    """UUIDs by worker."""
    values: dict[int, list[float]] = field(default_factory=dict, init=False)
    """Values by worker, oldest first."""
    due: float = field(default=0.0, init=False)

    def observe(self, workers: WorkerProcesses) -> None:
        """Take a sample of every running worker's GPUs, at most once a second."""
        if time.monotonic() < self.due:
            return
        for life in workers.alive():
            own = self.devices[life.index] = devices_of(life.pid) or self.devices.get(life.index, ())
            readings = [reading(device, self.quantity) for device in own]
            self.values.setdefault(life.index, []).extend(value for value in readings if value is not None)
        self.due = time.monotonic() + INTERVAL_SECONDS

    def of(self, index: int) -> list[float]:
        """Return the values of one worker, oldest first."""
        return self.values.get(index, [])
