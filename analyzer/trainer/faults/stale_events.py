"""Leaves event files of an earlier job in the job's directory; the job itself writes none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.faults.fault import Alone
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class StaleEvents(Fault):
    """Run an earlier job with one worker and a narrower model."""

    def before(self, workspace: Workspace, alone: Alone) -> None:  # noqa: ARG002 - as the job calls it
        """Run the earlier job in the first worker's folder."""
        alone(("--width", "8"))

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the options that disable event files."""
        return ("--logdir", "")

    def witness(self, evidence: Evidence) -> str:
        """Return proof that there are event files, all older than the job."""
        life = evidence.life(0)
        board = evidence.workspace.folder(0) / "tb"
        ages = [time.time() - path.stat().st_mtime for path in board.rglob("events.out.tfevents.*")]
        running = time.monotonic() - life.started
        require(ages, "the earlier job left no event files")
        require(min(ages) > running, "an event file is of this job")
        return f"{len(ages)} event files are older than the job"
