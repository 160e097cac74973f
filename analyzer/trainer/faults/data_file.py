"""Removes or damages the data file of the guilty worker or of all workers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.data_read import DataRead
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

RECORD = struct.calcsize("<QI65fI")


@dataclass
class DataFile(Fault):
    """Change the file: `lost`, `shortened` (to the batches before the step), `damaged` (TFRecord), `cut`."""

    fits_any_program: ClassVar[bool] = True
    happened: str = "lost"
    everyone: bool = False
    path: str = ""
    """The file, relative to the worker's folder; by default the part that the worker reads."""
    data: list[DataRead] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if self.happened not in {"lost", "shortened", "damaged", "cut"}:
            raise ValueError(f"nothing that happens to a file: {self.happened!r}")

    def prepare(self, workspace: Workspace) -> None:
        """Remove or change the file."""
        for index in range(workspace.scenario.workers) if self.everyone else [self.guilty]:
            path = self._file(workspace, index)
            before = path.read_bytes()
            self._strike(path, (self.step - 1) * workspace.scenario.batch_size)
            if path.exists() and path.read_bytes() != before:
                self.data.append(self._follow(workspace, index))

    def _file(self, workspace: Workspace, index: int) -> Path:
        return workspace.folder(index) / self.path if self.path else workspace.part_file(index)

    def _follow(self, workspace: Workspace, index: int) -> DataRead:
        if self.path:
            return DataRead(index, self._file(workspace, index), 0)
        return DataRead.before(self.step, workspace, index)

    def _strike(self, path: Path, rows: int) -> None:
        content = bytearray(path.read_bytes())
        if self.happened == "lost":
            path.unlink()
        elif self.happened == "shortened":
            path.write_bytes(b"".join(content.splitlines(keepends=True)[:rows]))
        elif self.happened == "cut":
            path.write_bytes(content[: len(content) // 2 if self.path else (rows + 5) * RECORD + 100])
        else:
            place = (rows + 5) * RECORD + 60
            content[place : place + 8] = b"\x00" * 4 + b"\xff" * 4
            path.write_bytes(content)

    def observe(self, workers: WorkerProcesses) -> None:
        """Record how far each worker with a changed file has read it."""
        for data in self.data:
            data.observe(workers)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the changed files were read up to the damage, or that the lost file is gone."""
        if self.happened == "lost":
            path = self._file(evidence.workspace, self.guilty)
            require(not path.exists(), f"{path.name} is there")
            return f"no {path.name}; {evidence.require_raised(self.guilty)}"
        require(self.data, "no file was changed")
        proof = "; ".join(data.require() for data in self.data)
        if self.happened == "shortened":
            return proof
        return f"{proof}; {evidence.require_raised(self.guilty)}"

    def cleanup(self) -> None:
        """Stop watching the changed files."""
        for data in self.data:
            data.close()
