"""A line of the guilty worker's learning-rate schedule was saved with a semicolon by a spreadsheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class DamagedSchedule(Fault):
    """The program fails to split the line at a comma."""

    def prepare(self, workspace: Workspace) -> None:
        """Replace the comma by a semicolon in the line of the step."""
        path = workspace.folder(self.guilty) / "config/schedule.csv"
        lines = path.read_text().splitlines()
        lines[self.step - 1] = lines[self.step - 1].replace(",", ";")
        path.write_text("\n".join(lines) + "\n")
