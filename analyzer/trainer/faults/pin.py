"""The guilty worker may use one core only, and other processes use that core too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.busy_machine import BusyMachine

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Pin(BusyMachine):
    """`processes` of them compute there as long as the job runs."""

    processes: int = 3

    def where(self) -> Sequence[str]:
        """Return the words that bind a command to the core."""
        return ("taskset", "-c", str(min(os.sched_getaffinity(0))))

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:
        """Bind the guilty worker to the core."""
        return (*self.where(), *usual) if index == self.guilty else usual
