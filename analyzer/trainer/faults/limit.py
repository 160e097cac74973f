"""Limits a resource of the guilty worker to about its use at the step."""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

OF = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE}


@dataclass
class Limit(Fault):
    """Set the rlimit of `memory` (address space, bytes) or `files` (open files) to the use plus `more`."""

    fits_any_program: ClassVar[bool] = True
    of: str = "files"
    more: int = 0
    done: bool = field(default=False, init=False)
    limit: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.of not in OF:
            raise ValueError(f"no such limit: {self.of!r}")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """When the guilty worker reaches the step, set its limit to its current use plus `more`."""
        if index != self.guilty or step < self.step or self.done:
            return
        self.done = True
        pid = workers.processes[index].pid
        with suppress(OSError):  # the process may have ended
            limit = self._in_use(pid) + self.more
            resource.prlimit(pid, OF[self.of], (limit, limit))
            self.limit, _ = resource.prlimit(pid, OF[self.of])
            self.strike()

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the kernel accepted the limit, and that the guilty worker then failed."""
        require(self.done, f"worker {self.guilty} never came to step {self.step}")
        require(self.limit, f"worker {self.guilty} had ended before the limit was set")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        return f"limit of {self.of}: {self.limit:,}; {evidence.require_ended_badly(self.guilty)}"

    def _in_use(self, pid: int) -> int:
        process = Path(f"/proc/{pid}")
        if self.of == "memory":
            return int((process / "statm").read_text().split()[0]) * resource.getpagesize()
        return max(int(path.name) for path in (process / "fd").iterdir()) + 1
