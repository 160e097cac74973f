"""Another process holds the lock that the guilty worker takes before a step."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class HoldLock(Fault):
    """The guilty worker waits forever; its peers wait for it in the all-reduce."""

    held: ExitStack = field(default_factory=ExitStack, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Take the lock of the guilty worker's statistics."""
        path = workspace.folder(self.guilty) / "statistics/.lock"
        fcntl.flock(self.held.enter_context(path.open("w")), fcntl.LOCK_EX)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker take its lock at the step for the first time."""
        return ("--refresh-every", str(self.step))

    def cleanup(self) -> None:
        """Release the lock."""
        self.held.close()
