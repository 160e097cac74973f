"""The job has a time limit: `timeout` ends every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class TimeLimit(Fault):
    """The limit is `seconds` from the start of each worker; `timeout` logs when it ends one."""

    seconds: int = 30

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Start the worker under the limit, with SIGKILL after SIGTERM, which TensorFlow may only log."""
        return ("timeout", "--verbose", "--kill-after=3", str(self.seconds), *usual)
