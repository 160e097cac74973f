"""The guilty worker is bound to one core that other processes use too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.busy_machine import BusyMachine

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Pin(BusyMachine):
    """`processes` of them compute on that core until the job ends."""

    processes: int = 3

    def where(self) -> Sequence[str]:
        """Return the command prefix that binds to the core."""
        return ("taskset", "-c", str(min(os.sched_getaffinity(0))))

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:
        """Bind the guilty worker to the core."""
        return (*self.where(), *usual) if index == self.guilty else usual
