"""Lets all workers write checkpoints to the same directory, as on a network file system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class SharedFolder(Fault):
    """Let all workers write to one directory `name`.

    `BackupAndRestore` needs that; plain checkpoints overwrite each other there.
    """

    name: str = "checkpoints"

    def prepare(self, workspace: Workspace) -> None:
        """Create one directory, and link it into every worker's folder."""
        common = workspace.root / "common"
        common.mkdir()
        for index in range(workspace.scenario.workers):
            (workspace.folder(index) / self.name).symlink_to(common)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that all workers share one directory, which has files."""
        workspace = evidence.workspace
        common = {
            (workspace.folder(index) / self.name).resolve() for index in range(workspace.scenario.workers)
        }
        require(len(common) == 1 and workspace.scenario.workers > 1, "each worker has a directory of its own")
        (folder,) = common
        require(any(path.is_file() for path in folder.rglob("*")), "nobody wrote into the shared directory")
        return "files in the directory that all workers share"
