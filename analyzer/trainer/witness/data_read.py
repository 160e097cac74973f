"""Tracks how far a worker has read its data file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.file_reads import FileReads

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace


@dataclass
class DataRead:
    """Tracks the file offset of a worker in its data file.

    TensorFlow reads TFRecords without moving the offset; for them, only the fact of a read is known.
    """

    index: int
    path: Path
    wanted: int
    """Offset to reach, in bytes: start of the step's batch, less one batch of tolerance for polling."""
    furthest: int = field(default=0, init=False)
    reads: FileReads = field(default_factory=FileReads, init=False)

    @classmethod
    def before(cls, step: int, workspace: Workspace, index: int) -> DataRead:
        """Return a tracker that checks whether a worker reads all batches before a step."""
        path = workspace.part_file(index)
        size = 0
        if path.suffix == ".csv":
            rows = path.read_bytes().splitlines(keepends=True)
            size = sum(map(len, rows[: max(1, (step - 2) * workspace.scenario.batch_size)]))
        return cls(index, path, size)

    def __post_init__(self) -> None:
        self.reads.watch(self.path)

    def observe(self, workers: WorkerProcesses) -> None:
        """Record the furthest offset of the worker in the file, in bytes."""
        for life in workers.alive():
            if life.index == self.index:
                self.furthest = max(self.furthest, proc.offset_in(life.pid, self.path))

    def require(self) -> str:
        """Return a sentence that proves that the worker read its file up to byte `wanted`.

        Raises:
            FaultMissedError: the worker read less.
        """
        name = f"{self.path.name} of worker {self.index}"
        require(self.reads.saw(self.path), f"{name} was never read")
        far = f"{name} was read to byte {self.furthest:,}"
        require(self.furthest >= self.wanted, f"{far}, and the fault lies behind byte {self.wanted:,}")
        return far if self.wanted else f"{name} was read"

    def close(self) -> None:
        """Stop watching the file."""
        self.reads.close()
