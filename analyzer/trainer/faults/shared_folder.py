"""All workers write checkpoints to the same path, as on a network file system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class SharedFolder(Fault):
    """`BackupAndRestore` needs this; for plain checkpoints it is a fault."""

    name: str = "checkpoints"

    def prepare(self, workspace: Workspace) -> None:
        """Give every worker the same folder."""
        common = workspace.root / "common"
        common.mkdir()
        for index in range(workspace.scenario.workers):
            (workspace.folder(index) / self.name).symlink_to(common)
