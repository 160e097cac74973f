"""Event files of an earlier job are in this job's directory; this job writes none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.faults.fault import Alone
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class StaleEvents(Fault):
    """The earlier job had one worker and a narrower model."""

    def before(self, workspace: Workspace, alone: Alone) -> None:  # noqa: ARG002 - as the job calls it
        """Run the earlier job in the first worker's folder."""
        alone(("--width", "8"))

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the arguments that switch event files off."""
        return ("--logdir", "")

    def witness(self, evidence: Evidence) -> str:
        """Require event files that are older than every worker, and none that are newer."""
        life = evidence.life(0)
        board = evidence.workspace.folder(0) / "tb"
        ages = [time.time() - path.stat().st_mtime for path in board.rglob("events.out.tfevents.*")]
        running = time.monotonic() - life.started
        require(ages, "the earlier job left no event files")
        require(min(ages) > running, "an event file is of this job")
        return f"{len(ages)} event files are older than the job"
