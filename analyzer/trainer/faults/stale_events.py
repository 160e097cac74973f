"""An earlier job has written its event files where this one's are looked for; this one writes none."""

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
    """The earlier job was one of a single worker, with a narrower model."""

    def before(self, workspace: Workspace, alone: Alone) -> None:  # noqa: ARG002 - as the job calls it
        """Run it, in the first worker's folder."""
        alone(("--width", "8"))

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Write no event files."""
        return ("--logdir", "")
