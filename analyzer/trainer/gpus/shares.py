"""Assigns the GPUs that the driver lists to the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.gpus.nvidia_smi import list_gpus

if TYPE_CHECKING:
    from analyzer.trainer.scenario import Scenario

HIDDEN = "-1"
"""Value of `CUDA_VISIBLE_DEVICES` that hides all GPUs."""


class MachineError(UserError):
    """The machine lacks something that a scenario needs."""


@dataclass(frozen=True)
class GpuShares:
    """GPU UUIDs of all workers, in the order of the workers, `each` of them per worker."""

    devices: tuple[str, ...] = ()
    each: int = 1
    shared: bool = False
    """True if several workers have the same GPU."""

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
        if scenario.shared_gpus and shares.devices:
            return cls((shares.devices * wanted)[:wanted], shares.each, shared=True)
        if scenario.needs_gpu:
            raise MachineError(
                f"{scenario.name}: needs {wanted} GPUs ({shares.each} for each worker), and "
                f"the driver lists {len(shares.devices)}; it was not run"
            )
        return cls((HIDDEN,) * scenario.workers) if shares.devices else cls()

    def environment(self, index: int) -> dict[str, str]:
        """Return `CUDA_VISIBLE_DEVICES` with a worker's GPUs; empty if the machine has none.

        On shared GPUs, TensorFlow allocates memory as needed, and each worker gets another `NCCL_HOSTID`, as
        NCCL refuses two ranks on one GPU of a host.
        """
        own = self.devices[index * self.each : (index + 1) * self.each]
        sharing = {"NCCL_HOSTID": f"worker-{index}", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
        return {"CUDA_VISIBLE_DEVICES": ",".join(own), **(sharing if self.shared else {})} if own else {}


def require_gpus() -> None:
    """Raise MachineError if the driver lists no GPU."""
    if not list_gpus():
        raise MachineError("no GPU: `nvidia-smi -L` lists none, so that no scenario with GPUs can run")
