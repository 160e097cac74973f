"""Limits the guilty worker, by a memory cgroup, to the memory that it uses at the step.

A worker that needs no more goes on within its limit. If it does for some steps, a process beside it in the
group needs more, and the kernel kills the largest.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.errors import UserError
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

ROOTS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
"""Mount points of cgroup versions 1 and 2; if both are mounted, version 1 controls memory."""
GROUP = "training-"
"""Prefix of the cgroup's name; the kernel log shows the name."""
LIMITS = ("memory.limit_in_bytes", "memory.max")
EVENTS = ("memory.oom_control", "memory.events")
_GOES_ON = 10
"""Steps after which a worker that still runs needs no more memory."""
_NEEDS_MORE = 'echo $$ > "$0" && head -c 64M /dev/zero | tail -c 64M > /dev/null'
"""Script that joins the cgroup of this `cgroup.procs`; its `tail` holds 64 MB, far less than a worker."""


@dataclass
class MemoryGroup(Fault):
    """Make the kernel kill the guilty worker for lack of memory; the run directory gets `kernel.log`."""

    fits_any_program: ClassVar[bool] = True
    group: Path | None = field(default=None, init=False)
    limited: bool = field(default=False, init=False)
    pid: int = field(default=0, init=False)
    neighbour: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def started(self, pid: int, index: int) -> None:
        """Move the guilty worker into a new memory cgroup."""
        if index != self.guilty:
            return
        root = next((root for root in ROOTS if (root / "cgroup.procs").exists()), None)
        if os.geteuid() or root is None:
            raise UserError("a memory cgroup can be made by root only, where the kernel has them")
        self.group, self.pid = root / f"{GROUP}{os.getpid()}", pid
        self.group.mkdir()
        (self.group / "cgroup.procs").write_text(str(pid))

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """When the guilty worker reaches the step, set its cgroup's memory limit to its current use."""
        if index != self.guilty or step < self.step or self.group is None:
            return
        if self.limited:
            if step >= self.step + _GOES_ON and not (self.neighbour or self._kills()):
                command = ["sh", "-c", _NEEDS_MORE, str(self.group / "cgroup.procs")]
                self.neighbour = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own script
            return
        self.limited = True
        self.strike()
        limit = next(self.group / name for name in LIMITS if (self.group / name).exists())
        for size in range(self._used(), 1 << 40, 1 << 18):
            with suppress(OSError):  # version 1 refuses a limit below what cannot be given back
                limit.write_text(str(size))
                return

    def _used(self) -> int:
        """Return the anonymous memory of the process in bytes, without file pages."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise UserError(f"/proc/{self.pid}/status does not tell the memory of the process")

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the kernel counted an OOM kill in the cgroup."""
        require(self.limited, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=self.guilty)
        require(self._kills(), "the kernel killed nobody in the group")
        return f"oom_kill {self._kills()} in the group; {evidence.require_ended_badly(self.guilty)}"

    def _kills(self) -> int:
        """Return how many processes the kernel killed in the cgroup for lack of memory."""
        files = [self.group / name for name in EVENTS] if self.group else []
        lines = [line.split() for path in files if path.exists() for line in path.read_text().splitlines()]
        return max((int(line[1]) for line in lines if line[0] == "oom_kill"), default=0)

    def leaves(self) -> Mapping[str, bytes]:
        """Return a file `kernel.log` with the lines of `dmesg` that name the killed process.

        Empty if `dmesg` has no such line or cannot be read.
        """
        log = subprocess.run(["dmesg"], capture_output=True, check=False).stdout  # noqa: S607 - of the system
        own = [line for line in log.splitlines(keepends=True) if str(self.pid).encode() in line]
        return {"kernel.log": b"".join(own)} if own else {}

    def cleanup(self) -> None:
        """Remove the cgroup, which is empty once the process beside the worker has ended."""
        if self.neighbour:
            with suppress(ProcessLookupError):
                os.killpg(self.neighbour.pid, signal.SIGKILL)
            self.neighbour.wait()
        if self.group:
            with suppress(OSError):
                self.group.rmdir()
