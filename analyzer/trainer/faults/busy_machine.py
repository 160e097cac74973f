"""Other processes compete for the machine's cores; a slow job, but not a fault."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from subprocess import Popen
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class BusyMachine(Fault):
    """`processes` of them compute until the job ends."""

    processes: int = 2
    others: list[Popen[bytes]] = field(default_factory=list, init=False)

    def prepare(self, workspace: Workspace) -> None:  # noqa: ARG002 - as the job calls it
        """Start them; each ends by itself should the trainer be killed."""
        loop = f"while [ -d /proc/{os.getpid()} ]; do :; done"
        for _ in range(self.processes):
            self.others.append(Popen([*self.where(), "/bin/sh", "-c", loop]))  # noqa: S603 - ours

    def where(self) -> Sequence[str]:
        """Return the command prefix that restricts the cores: none."""
        return ()

    def cleanup(self) -> None:
        """End them."""
        for other in self.others:
            other.kill()
            other.wait()
