"""Competes for a lock that the guilty worker needs at each step, as another job might."""

from __future__ import annotations

import fcntl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

LEAST_SHARE = 0.1


@dataclass
class BusyLock(Fault):
    """Hold the lock for `seconds` each time, from a thread that stands for another job."""

    seconds: float = 0.3
    over: threading.Event = field(default_factory=threading.Event, init=False)
    other: threading.Thread | None = field(default=None, init=False)
    path: Path | None = field(default=None, init=False)
    looks: int = field(default=0, init=False)
    waits: int = field(default=0, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Start the thread that competes for the lock."""
        self.path = workspace.folder(self.guilty) / "statistics/.lock"
        self.other = threading.Thread(target=self._contend, args=(self.path,), daemon=True)
        self.other.start()

    def _contend(self, path: Path) -> None:
        with path.open("w") as lock:
            while not self.over.is_set():
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.over.wait(self.seconds)
                fcntl.flock(lock, fcntl.LOCK_UN)
                time.sleep(0.02)

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker take the lock at each step."""
        return ("--refresh-every", "1")

    def cleanup(self) -> None:
        """Stop the thread and wait for it."""
        self.over.set()
        if self.other:
            self.other.join()

    def observe(self, workers: WorkerProcesses) -> None:
        """Count whether the guilty worker waits for the lock at this poll."""
        for life in workers.alive():
            if life.index == self.guilty and self.path:
                self.looks += 1
                self.waits += proc.waits_for_lock(life.pid, self.path)

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc/locks` that the guilty worker waited in at least a tenth of the polls."""
        evidence.life(self.guilty)
        enough = self.waits and self.waits >= self.looks * LEAST_SHARE
        require(enough, f"worker {self.guilty} waited for the lock in {self.waits} of {self.looks} looks")
        return f"worker {self.guilty} waits for the lock in {self.waits} of {self.looks} looks at /proc/locks"
