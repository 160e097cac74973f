"""The guilty worker's data file is missing or damaged."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.workspace import Workspace

RECORD = struct.calcsize("<QI65fI")


@dataclass
class DataFile(Fault):
    """`happened` is `lost`, `shortened` (to the batches before the step), `damaged` (a TFRecord) or `cut`."""

    happened: str = "lost"
    everyone: bool = False

    def __post_init__(self) -> None:
        if self.happened not in {"lost", "shortened", "damaged", "cut"}:
            raise ValueError(f"nothing that happens to a file: {self.happened!r}")

    def prepare(self, workspace: Workspace) -> None:
        """Remove or change the file."""
        for index in range(workspace.scenario.workers) if self.everyone else [self.guilty]:
            self._strike(workspace.part_file(index), (self.step - 1) * workspace.scenario.batch_size)

    def _strike(self, path: Path, rows: int) -> None:
        content = bytearray(path.read_bytes())
        if self.happened == "lost":
            path.unlink()
        elif self.happened == "shortened":
            path.write_bytes(b"".join(content.splitlines(keepends=True)[:rows]))
        elif self.happened == "cut":
            path.write_bytes(content[: (rows + 5) * RECORD + 100])
        else:
            place = (rows + 5) * RECORD + 60
            content[place : place + 8] = b"\x00" * 4 + b"\xff" * 4
            path.write_bytes(content)
