"""A worker dies, all are started again, and the checkpoint that they find is not the one they had written."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults.supervised import Supervised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

EVERY = 3
FOLDER = "checkpoints"


@dataclass
class WrongCheckpoint(Supervised):
    """`found` is what they find: `first`, an old copy of it; `none`, for the disk was lost; or `latest`."""

    found: str = "first"
    folders: list[Path] = field(default_factory=list, init=False)

    def check(self, scenario: Scenario) -> None:  # noqa: ARG002 - as all faults have it
        """Know what is to be found."""
        if self.found not in {"first", "none", "latest"}:
            raise ValueError(f"found must be first, none or latest, not {self.found}")

    def prepare(self, workspace: Workspace) -> None:
        """Note where the workers write."""
        self.folders = [workspace.folder(index) for index in range(workspace.scenario.workers)]

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker note its step beside its checkpoint."""
        return ("--progress", "progress.txt", "--checkpoint-every", str(EVERY))

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Copy the first checkpoint as soon as the next step is done."""
        old = self.folders[index] / "old"
        if EVERY < step < 2 * EVERY and not old.exists():
            shutil.copytree(self.folders[index] / FOLDER, old)
        super().on_step(workers, index, step)

    def before_restart(self, index: int) -> None:
        """Put something else in the place of the checkpoint."""
        if self.found == "latest":
            return
        shutil.rmtree(self.folders[index] / FOLDER)
        if self.found == "first":
            shutil.copytree(self.folders[index] / "old", self.folders[index] / FOLDER)
