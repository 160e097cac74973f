"""The file system of the guilty worker's checkpoints is too small."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class SmallDisk(Fault):
    """A tmpfs of `kilobytes`; mounting it needs root."""

    kilobytes: int = 1000
    mounted: Path | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Mount it."""
        if os.geteuid():
            raise UserError("a small disk can be mounted by root only")
        folder = workspace.folder(self.guilty) / "checkpoints"
        folder.mkdir()
        self._run("mount", "-t", "tmpfs", "-o", f"size={self.kilobytes}k", "tmpfs", str(folder))
        self.mounted = folder

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - its words are ours

    def cleanup(self) -> None:
        """Unmount it."""
        if self.mounted:
            self._run("umount", "--lazy", str(self.mounted))
