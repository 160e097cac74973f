"""Replaces text in a file of the guilty worker, as an older deployment or a hand edit leaves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class EditFile(Fault):
    """Replace `old` by `new` in the file `path` of the guilty worker or, with `everyone`, of all."""

    fits_any_program: ClassVar[bool] = True
    path: str = ""
    """The file, relative to the worker's folder."""
    old: str = ""
    new: str = ""
    line: int = 0
    """The only line to change, from 1; 0 for all occurrences of `old`. Without `old`, the whole line."""
    fails: bool = True
    """True if the changed file must make the guilty worker fail."""
    everyone: bool = False
    changed: list[Path] = field(default_factory=list, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Edit the files, and watch whether they are read."""
        for index in range(workspace.scenario.workers) if self.everyone else [self.guilty]:
            path = workspace.folder(index) / self.path
            before = path.read_text()
            path.write_text(self._edited(before))
            if path.read_text() != before:
                self.changed.append(path)
                self.reads.watch(path)

    def _edited(self, text: str) -> str:
        if not self.line:
            return text.replace(self.old, self.new)
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line.replace(self.old, self.new) if self.old else self.new + "\n"
        return "".join(lines)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that each edited file was read and, with `fails`, that the guilty worker failed."""
        require(self.changed, f"{self.path} did not change")
        for path in self.changed:
            require(self.reads.saw(path), f"{self.path} was never read after the change")
        proof = f"{self.path} was read after the change"
        return f"{proof}; {evidence.require_raised(self.guilty)}" if self.fails else proof

    def cleanup(self) -> None:
        """Stop watching the files."""
        self.reads.close()
