"""Kills a worker; the restarted workers find a checkpoint other than the last one that they wrote."""

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
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.witness.evidence import Evidence

EVERY = 3
FOLDER = "checkpoints"


@dataclass
class WrongCheckpoint(Supervised):
    """Leave the checkpoint `found` for the restart: `first` (an old copy), `none` (lost disk) or `latest`."""

    found: str = "first"
    folders: list[Path] = field(default_factory=list, init=False)
    replaced: int = field(default=0, init=False)

    def check(self, scenario: Scenario) -> None:  # noqa: ARG002 - as all faults have it
        """Raise ValueError if `found` is not `first`, `none` or `latest`."""
        if self.found not in {"first", "none", "latest"}:
            raise ValueError(f"found must be first, none or latest, not {self.found}")

    def prepare(self, workspace: Workspace) -> None:
        """Store the paths of the workers' folders."""
        self.folders = [workspace.folder(index) for index in range(workspace.scenario.workers)]

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the options that make every worker save checkpoints, and the last saved step in a file."""
        return ("--progress", "progress.txt", "--checkpoint-every", str(EVERY))

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Copy a worker's first checkpoint before the second replaces it; then kill and restart as due."""
        old = self.folders[index] / "old"
        if EVERY < step < 2 * EVERY and not old.exists():
            shutil.copytree(self.folders[index] / FOLDER, old)
        super().on_step(workers, index, step)

    def before_restart(self, index: int) -> None:
        """Replace the worker's checkpoint by the first one, or delete it, as `found` says.

        A worker that failed before its first checkpoint has nothing to replace.
        """
        if self.found == "latest" or not (self.folders[index] / FOLDER).exists():
            return
        shutil.rmtree(self.folders[index] / FOLDER)
        self.replaced += 1
        if self.found == "first":
            shutil.copytree(self.folders[index] / "old", self.folders[index] / FOLDER)

    def witness(self, evidence: Evidence) -> str:
        """Return proof of the kill, the restart and (unless `found` is `latest`) a replaced checkpoint."""
        proof = super().witness(evidence)
        require(self.found == "latest" or self.replaced, "no checkpoint was replaced")
        return f"{proof}; checkpoints replaced: {self.replaced}"
