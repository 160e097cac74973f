"""Mounts a too small file system for the guilty worker's checkpoints."""

from __future__ import annotations

import math
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.errors import UserError
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class SmallDisk(Fault):
    """Mount a tmpfs of `kilobytes` at `path` in the guilty worker's folder, which needs root."""

    fits_any_program: ClassVar[bool] = True
    kilobytes: int = 1000
    path: str = "checkpoints"
    """Mount point of the tmpfs, relative to the worker's folder."""
    mounted: Path | None = field(default=None, init=False)
    free: float = field(default=math.inf, init=False)
    """Least free space seen, in kilobytes."""
    largest: float = field(default=0.0, init=False)
    """Size of the largest file seen on the tmpfs, in kilobytes."""

    def prepare(self, workspace: Workspace) -> None:
        """Mount the tmpfs."""
        if os.geteuid():
            raise UserError("a small disk can be mounted by root only")
        folder = workspace.folder(self.guilty) / self.path
        folder.mkdir(exist_ok=True)
        self._run("mount", "-t", "tmpfs", "-o", f"size={self.kilobytes}k", "tmpfs", str(folder))
        self.mounted = folder

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - its words are ours

    def observe(self, workers: WorkerProcesses) -> None:  # noqa: ARG002 - as the job calls it
        """Record the least free space and the size of the largest file, in kilobytes."""
        if self.mounted:
            self.free = min(self.free, os.statvfs(self.mounted).f_bavail * 4)
            self.largest = max([self.largest, *map(_kilobytes, self.mounted.rglob("*"))])

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the disk was full, and that the guilty worker failed."""
        require(self.mounted, "the disk was not mounted")
        require(self.free < self.largest, f"{self.free:.0f} kB of {self.kilobytes} were always free")
        proof = f"{self.free:.0f} kB free of {self.kilobytes}, for files of {self.largest:.0f} kB"
        return f"{proof}; {evidence.require_ended_badly(self.guilty)}"

    def cleanup(self) -> None:
        """Unmount the tmpfs."""
        if self.mounted:
            self._run("umount", "--lazy", str(self.mounted))


def _kilobytes(path: Path) -> float:
    try:
        return path.stat().st_size / 1024 if path.is_file() else 0.0
    except OSError:  # a temporary file may be gone
        return 0.0
