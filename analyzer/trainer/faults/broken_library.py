"""Puts an unusable library first on the guilty worker's `LD_LIBRARY_PATH`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

FOLDER = "lib64/stubs"


@dataclass
class BrokenLibrary(Fault):
    """Create an empty file called `library`, the driver's by default, where the loader looks first."""

    fits_any_program: ClassVar[bool] = True
    library: str = "libcuda.so.1"
    path: Path | None = field(default=None, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Create the file and watch it."""
        folder = workspace.folder(self.guilty) / FOLDER
        folder.mkdir(parents=True)
        self.path = folder / self.library
        self.path.touch()
        self.reads.watch(self.path)

    def environment(self, index: int) -> Mapping[str, str]:
        """Return the guilty worker's `LD_LIBRARY_PATH`."""
        return {"LD_LIBRARY_PATH": str(self.path.parent)} if self.path and index == self.guilty else {}

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the loader of the guilty worker opened the file."""
        evidence.life(self.guilty)
        require(self.path and self.reads.saw(self.path), f"nobody opened {FOLDER}/{self.library}")
        return f"{FOLDER}/{self.library} of worker {self.guilty} was opened"

    def cleanup(self) -> None:
        """Stop watching the file."""
        self.reads.close()
