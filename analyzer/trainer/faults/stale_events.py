"""Event files of an earlier job are in this job's directory; this job writes none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.faults.fault import Alone
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class StaleEvents(Fault):
    """The earlier job had one worker and a narrower model."""

    def before(self, workspace: Workspace, alone: Alone) -> None:  # noqa: ARG002 - as the job calls it
        """Run the earlier job in the first worker's folder."""
        alone(("--width", "8"))

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the arguments that switch event files off."""
        return ("--logdir", "")
