"""Starts the job from an unusable checkpoint of an earlier job."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.faults.fault import Alone
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

FIRST = ("--epochs", "1", "--steps", "4", "--checkpoint-every", "4", "--logdir", "")


@dataclass
class OldCheckpoint(Fault):
    """Restore a checkpoint truncated on the guilty worker (`cut`) or of a job with arguments `earlier`."""

    cut: bool = False
    earlier: list[str] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def before(self, workspace: Workspace, alone: Alone) -> None:
        """Run the earlier job alone, and copy its checkpoint to every worker."""
        alone([*FIRST, *map(str, self.earlier)])
        made = workspace.folder(0) / "checkpoints"
        for index in range(workspace.scenario.workers):
            shutil.copytree(made, workspace.folder(index) / "previous")
        shutil.rmtree(made)

    def prepare(self, workspace: Workspace) -> None:
        """Truncate the guilty worker's copy if `cut` is set, and watch it for reads."""
        if self.cut:
            for path in (workspace.folder(self.guilty) / "previous").glob("*.data-*"):
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        self.parts = sorted((workspace.folder(self.guilty) / "previous").glob("*.*"))
        for path in self.parts:
            self.reads.watch(path)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker restore the checkpoint."""
        return ("--restore", "previous/step-00004")

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker opened the unusable checkpoint, and failed."""
        evidence.life(self.guilty)
        require(self.cut or self.earlier, "the checkpoint is whole and of the same model")
        opened = [path for path in self.parts if self.reads.saw(path)]
        require(opened, f"worker {self.guilty} never opened the checkpoint")
        return f"worker {self.guilty} opened {opened[0].name}; {evidence.require_raised(self.guilty)}"

    def cleanup(self) -> None:
        """Stop watching the checkpoint."""
        self.reads.close()
