"""Runs every worker under a time limit, with the command `timeout`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.witness.evidence import Evidence

ENDED = {124, 137, -9}
"""Exit codes of `timeout` after the limit: by SIGTERM (124), or by the SIGKILL after it (137, -9)."""


@dataclass
class TimeLimit(Fault):
    """End each worker `seconds` after its start; `timeout` logs the signals that it sends."""

    fits_any_program: ClassVar[bool] = True
    seconds: int = 30

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the command under `timeout`, with SIGKILL 3 s after SIGTERM, which TensorFlow may ignore."""
        return ("timeout", "--verbose", "--kill-after=3", str(self.seconds), *usual)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that `timeout` ended a worker, and that no worker failed before the limit was over."""
        lives = evidence.workers.lives
        ended = [life for life in lives if life.code in ENDED and life.ended - life.started >= self.seconds]
        codes = {life.index: life.code for life in lives}
        require(ended, f"the limit of {self.seconds} s ended nobody; exit codes: {codes}")
        over = min(life.started for life in ended) + self.seconds
        evidence.require_nobody_ended_badly(before=over, but=-1)
        return f"`timeout` ended {len(ended)} of {len(lives)} workers"
