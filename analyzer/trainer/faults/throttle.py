"""The guilty worker gets the processor only part of the time, as under a CPU quota."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGCONT, SIGSTOP

from analyzer.trainer.faults.fault import Fault


@dataclass
class Throttle(Fault):
    """In each period of `period` seconds it runs for the fraction `share`."""

    share: float = 0.3
    period: float = 0.1
    over: threading.Event = field(default_factory=threading.Event, init=False)
    clock: threading.Thread | None = field(default=None, init=False)

    def started(self, pid: int, index: int) -> None:
        """Start throttling with the process."""
        if index == self.guilty:
            self.clock = threading.Thread(target=self._throttle, args=(pid,), daemon=True)
            self.clock.start()

    def _throttle(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            while not self.over.is_set():
                os.kill(pid, SIGSTOP)
                self.over.wait(self.period * (1 - self.share))
                os.kill(pid, SIGCONT)
                self.over.wait(self.period * self.share)

    def cleanup(self) -> None:
        """Stop throttling."""
        self.over.set()
        if self.clock:
            self.clock.join()
