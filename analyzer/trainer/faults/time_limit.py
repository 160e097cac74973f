"""The job has a time limit: `timeout` ends every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.witness.evidence import Evidence

ENDED = {124, 137, -9}
"""Exit codes of `timeout` when the limit was over: by SIGTERM, by SIGKILL after it."""


@dataclass
class TimeLimit(Fault):
    """The limit is `seconds` from the start of each worker; `timeout` logs when it ends one."""

    fits_any_program: ClassVar[bool] = True
    seconds: int = 30

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Start the worker under the limit, with SIGKILL after SIGTERM, which TensorFlow may only log."""
        return ("timeout", "--verbose", "--kill-after=3", str(self.seconds), *usual)

    def witness(self, evidence: Evidence) -> str:
        """Require that `timeout` ended a worker when the limit was over, before another one failed."""
        lives = evidence.workers.lives
        ended = [life for life in lives if life.code in ENDED and life.ended - life.started >= self.seconds]
        codes = {life.index: life.code for life in lives}
        require(ended, f"the limit of {self.seconds} s ended nobody; exit codes: {codes}")
        evidence.require_nobody_ended_badly(before=min(life.ended for life in ended), but=-1)
        return f"`timeout` ended {len(ended)} of {len(lives)} workers"
