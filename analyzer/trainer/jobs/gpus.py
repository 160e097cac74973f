"""Assigns the GPUs that the driver lists to the workers."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError

if TYPE_CHECKING:
    from analyzer.trainer.scenario import Scenario

DEVICE = re.compile(r"^GPU \d+: .*\(UUID: (\S+)\)", re.MULTILINE)

HIDDEN = "-1"
"""Value of `CUDA_VISIBLE_DEVICES` that hides all GPUs."""


class MachineError(UserError):
    """The machine lacks something that a scenario needs."""


@dataclass(frozen=True)
class GpuShares:
    """GPU UUIDs of all workers, in the order of the workers, `each` of them per worker."""

    devices: tuple[str, ...] = ()
    each: int = 1

    @classmethod
    def of(cls, scenario: Scenario) -> GpuShares:
        """Assign GPUs of this machine to a scenario's workers; hide them from all if there are too few.

        Raises:
            MachineError: the scenario needs GPUs, and the driver lists too few.

        """
        shares = cls(list_gpus(), scenario.gpus_per_worker or 1)
        wanted = scenario.workers * shares.each
        if len(shares.devices) >= wanted:
            return shares
        if scenario.needs_gpu:
            raise MachineError(
                f"{scenario.name}: needs {wanted} GPUs ({shares.each} for each worker), and "
                f"the driver lists {len(shares.devices)}; it was not run"
            )
        return cls((HIDDEN,) * scenario.workers) if shares.devices else cls()

    def environment(self, index: int) -> dict[str, str]:
        """Return `CUDA_VISIBLE_DEVICES` with a worker's GPUs; empty if the machine has none."""
        own = self.devices[index * self.each : (index + 1) * self.each]
        return {"CUDA_VISIBLE_DEVICES": ",".join(own)} if own else {}


def list_gpus() -> tuple[str, ...]:
    """Return the UUIDs of the GPUs that `nvidia-smi -L` lists; empty if the command fails."""
    try:
        told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=60)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(DEVICE.findall(told.stdout))
