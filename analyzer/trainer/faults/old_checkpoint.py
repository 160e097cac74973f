"""The job starts from an unusable checkpoint of an earlier job."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.faults.fault import Alone
    from analyzer.trainer.jobs.workspace import Workspace

FIRST = ("--epochs", "1", "--steps", "4", "--checkpoint-every", "4", "--logdir", "")


@dataclass
class OldCheckpoint(Fault):
    """`cut` truncates the guilty worker's copy; `earlier` has the arguments of the earlier job."""

    cut: bool = False
    earlier: list[str] = field(default_factory=list)

    def before(self, workspace: Workspace, alone: Alone) -> None:
        """Write the checkpoint and copy it to every worker."""
        alone([*FIRST, *map(str, self.earlier)])
        made = workspace.folder(0) / "checkpoints"
        for index in range(workspace.scenario.workers):
            shutil.copytree(made, workspace.folder(index) / "previous")
        shutil.rmtree(made)

    def prepare(self, workspace: Workspace) -> None:
        """Truncate the guilty worker's copy."""
        if self.cut:
            for path in (workspace.folder(self.guilty) / "previous").glob("*.data-*"):
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker restore it."""
        return ("--restore", "previous/step-00004")
