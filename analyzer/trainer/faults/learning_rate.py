"""The learning rate in everybody's schedule is too high, for some steps or from a step on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class LearningRate(Fault):
    """The schedule has `rate` from the step on, for `steps` steps (0: to the end)."""

    rate: float = 10.0
    steps: int = 0

    def prepare(self, workspace: Workspace) -> None:
        """Write the rate into every worker's schedule."""
        for index in range(workspace.scenario.workers):
            path = workspace.folder(index) / "config/schedule.csv"
            lines = path.read_text().splitlines()
            end = self.step - 1 + self.steps if self.steps else len(lines)
            for place in range(self.step - 1, min(end, len(lines))):
                lines[place] = f"{place + 1},{self.rate}"
            path.write_text("\n".join(lines) + "\n")
