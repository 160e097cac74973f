"""A line of the guilty worker's learning-rate schedule that was saved by a spreadsheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class DamagedSchedule(Fault):
    """The program splits the line at a comma that is no longer there."""

    def prepare(self, workspace: Workspace) -> None:
        """Put a semicolon for the comma in the line of the step."""
        path = workspace.folder(self.guilty) / "config/schedule.csv"
        lines = path.read_text().splitlines()
        lines[self.step - 1] = lines[self.step - 1].replace(",", ";")
        path.write_text("\n".join(lines) + "\n")
