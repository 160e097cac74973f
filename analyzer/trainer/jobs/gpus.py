"""The GPUs that the driver lists, and the share of each worker."""

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
"""Stands for no device in `CUDA_VISIBLE_DEVICES`."""


class MachineError(UserError):
    """The machine lacks something that a scenario needs."""


@dataclass(frozen=True)
class GpuShares:
    """The devices of all workers, by their UUIDs, in the order of the workers."""

    devices: tuple[str, ...] = ()
    each: int = 1

    @classmethod
    def of(cls, scenario: Scenario) -> GpuShares:
        """Return the shares of a scenario's workers on this machine.

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
        """Return the variable that restricts a worker to its share."""
        own = self.devices[index * self.each : (index + 1) * self.each]
        return {"CUDA_VISIBLE_DEVICES": ",".join(own)} if own else {}


def list_gpus() -> tuple[str, ...]:
    """Return the UUIDs that `nvidia-smi -L` lists; none if there is no tool, or no driver that answers."""
    try:
        told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=60)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(DEVICE.findall(told.stdout))
