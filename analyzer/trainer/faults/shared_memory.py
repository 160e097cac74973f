"""Gives the guilty worker a small `/dev/shm`, as containers do by default."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.errors import UserError
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

PLACE = "/dev/shm"  # noqa: S108 - its place on every Linux
MOUNT = 'mount -t tmpfs -o "size=$0k" tmpfs /dev/shm && exec "$@"'


@dataclass
class SharedMemory(Fault):
    """Mount a tmpfs of `kilobytes` at `/dev/shm`, which the guilty worker alone sees; needs root.

    `set` holds environment variables of all workers, such as `NCCL_P2P_DISABLE`, that make NCCL use it.
    """

    fits_any_program: ClassVar[bool] = True
    kilobytes: int = 1024
    set: dict[str, str] = field(default_factory=dict)
    sizes: dict[int, str] = field(default_factory=dict, init=False)
    """Mount options of `/dev/shm` by worker."""

    def prepare(self, workspace: Workspace) -> None:  # noqa: ARG002 - as the job calls it
        """Raise UserError unless this process may mount."""
        if os.geteuid():
            raise UserError("a small /dev/shm can be mounted by root only")

    def environment(self, index: int) -> Mapping[str, str]:  # noqa: ARG002 - all alike
        """Return the variables that all workers get."""
        return self.set

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:
        """Return the command line with a mount namespace around it, for the guilty worker."""
        if index != self.guilty:
            return usual
        return ["unshare", "--mount", "sh", "-c", MOUNT, str(self.kilobytes), *usual]

    def observe(self, workers: WorkerProcesses) -> None:
        """Record the mount options of `/dev/shm` that each young worker sees."""
        for life in workers.alive():
            if life.is_young() and (options := _options(life.pid)):
                self.sizes[life.index] = options

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc` that the mount is small, and that the guilty worker failed."""
        own = self.sizes.get(self.guilty, "")
        proof = f"{PLACE} of worker {self.guilty} in /proc: {own or 'not seen'}"
        require(f"size={self.kilobytes}k" in own, proof)
        return f"{proof}; {evidence.require_ended_badly(self.guilty)}"


def _options(pid: int) -> str:
    """Return the options of the topmost file system at `/dev/shm` that a process sees."""
    try:
        mounts = [line.split() for line in Path(f"/proc/{pid}/mounts").read_text().splitlines()]
    except OSError:
        return ""
    return next((mount[3] for mount in reversed(mounts) if mount[1] == PLACE), "")
