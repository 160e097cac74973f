"""A worker dies; all are restarted, and find a checkpoint other than the one they wrote last."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults.supervised import Supervised
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.witness.evidence import Evidence

EVERY = 3
FOLDER = "checkpoints"


@dataclass
class WrongCheckpoint(Supervised):
    """They find `found`: `first` (an old copy), `none` (the disk was lost) or `latest`."""

    found: str = "first"
    folders: list[Path] = field(default_factory=list, init=False)
    replaced: int = field(default=0, init=False)

    def check(self, scenario: Scenario) -> None:  # noqa: ARG002 - as all faults have it
        """Check the value of `found`."""
        if self.found not in {"first", "none", "latest"}:
            raise ValueError(f"found must be first, none or latest, not {self.found}")

    def prepare(self, workspace: Workspace) -> None:
        """Remember the workers' folders."""
        self.folders = [workspace.folder(index) for index in range(workspace.scenario.workers)]

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker write its step beside its checkpoint."""
        return ("--progress", "progress.txt", "--checkpoint-every", str(EVERY))

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Copy the first checkpoint after the next step."""
        old = self.folders[index] / "old"
        if EVERY < step < 2 * EVERY and not old.exists():
            shutil.copytree(self.folders[index] / FOLDER, old)
        super().on_step(workers, index, step)

    def before_restart(self, index: int) -> None:
        """Replace the checkpoint."""
        if self.found == "latest":
            return
        shutil.rmtree(self.folders[index] / FOLDER)
        self.replaced += 1
        if self.found == "first":
            shutil.copytree(self.folders[index] / "old", self.folders[index] / FOLDER)

    def witness(self, evidence: Evidence) -> str:
        """Require the kill and the restart, and that a checkpoint was there to be replaced."""
        told = super().witness(evidence)
        require(self.found == "latest" or self.replaced, "no checkpoint was replaced")
        return f"{told}; checkpoints replaced: {self.replaced}"
