"""Disables the sharding of the data on every worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Unsharded(Fault):
    """Make every worker read every part file, in the same order and with the same seed."""

    reads: FileReads = field(default_factory=FileReads, init=False)
    strange: dict[int, Path] = field(default_factory=dict, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Watch, in each worker's folder, the data file of the next worker."""
        count = workspace.scenario.workers
        for index in range(count):
            file = workspace.part_file((index + 1) % count).name
            self.strange[index] = workspace.folder(index) / "data" / file
            self.reads.watch(self.strange[index])

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that disables sharding."""
        return ("--shard", "none")

    def witness(self, evidence: Evidence) -> str:
        """Return proof that each worker opened a data file of another worker's shard."""
        count = evidence.workspace.scenario.workers
        for index, path in self.strange.items():
            require(self.reads.saw(path), f"worker {index} never opened {path.name}")
        require(count > 1, "one worker shares its data with nobody")
        return "each worker opened a data file of another one"

    def cleanup(self) -> None:
        """Stop watching the files."""
        self.reads.close()
