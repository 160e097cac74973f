"""The operating system limits a resource of the guilty worker to what it uses at the step."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses

OF = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE}


@dataclass
class Limit(Fault):
    """`of` is `memory` (address space) or `files` (open files)."""

    of: str = "files"
    more: int = 0
    done: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.of not in OF:
            raise ValueError(f"no such limit: {self.of!r}")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Set the limit to the current use plus `more`."""
        if index != self.guilty or step < self.step or self.done:
            return
        self.done = True
        pid = workers.processes[index].pid
        limit = self._in_use(pid) + self.more
        resource.prlimit(pid, OF[self.of], (limit, limit))

    def _in_use(self, pid: int) -> int:
        process = Path(f"/proc/{pid}")
        if self.of == "memory":
            return int((process / "statm").read_text().split()[0]) * resource.getpagesize()
        return max(int(path.name) for path in (process / "fd").iterdir()) + 1
