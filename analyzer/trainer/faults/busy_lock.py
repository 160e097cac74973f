"""Another job keeps holding a lock that the guilty worker needs at each step."""

from __future__ import annotations

import fcntl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class BusyLock(Fault):
    """The other job holds the lock for `seconds` each time after the guilty worker has released it."""

    seconds: float = 0.3
    over: threading.Event = field(default_factory=threading.Event, init=False)
    other: threading.Thread | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Start the other job."""
        lock = workspace.folder(self.guilty) / "statistics/.lock"
        self.other = threading.Thread(target=self._contend, args=(lock,), daemon=True)
        self.other.start()

    def _contend(self, path: Path) -> None:
        with path.open("w") as lock:
            while not self.over.is_set():
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.over.wait(self.seconds)
                fcntl.flock(lock, fcntl.LOCK_UN)
                time.sleep(0.02)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker take the lock at each step."""
        return ("--refresh-every", "1")

    def cleanup(self) -> None:
        """Stop the other job."""
        self.over.set()
        if self.other:
            self.other.join()
