"""The job has a time limit: `timeout` ends every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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

    seconds: int = 30

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Start the worker under the limit, with SIGKILL after SIGTERM, which TensorFlow may only log."""
        return ("timeout", "--verbose", "--kill-after=3", str(self.seconds), *usual)

    def witness(self, evidence: Evidence) -> str:
        """Require that `timeout` ended every worker."""
        codes = {life.index: life.code for life in evidence.workers.lives}
        require(codes, "nobody was started")
        ended = {index for index, code in codes.items() if code in ENDED}
        require(ended == codes.keys(), f"exit codes of `timeout`: {codes}")
        return f"`timeout` ended {len(ended)} workers"
