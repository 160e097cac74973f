"""Lets the guilty worker run only part of the time, as under a CPU quota."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGCONT, SIGSTOP
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Throttle(Fault):
    """Stop the guilty worker except for the fraction `share` of each `period` (seconds)."""

    fits_any_program: ClassVar[bool] = True
    share: float = 0.3
    period: float = 0.1
    over: threading.Event = field(default_factory=threading.Event, init=False)
    clock: threading.Thread | None = field(default=None, init=False)
    stopped: float = field(default=0.0, init=False)
    """Total time in seconds for which the process was stopped, as `/proc` confirmed."""

    def started(self, pid: int, index: int) -> None:
        """Start a thread that throttles the guilty worker's process."""
        if index == self.guilty:
            self.clock = threading.Thread(target=self._throttle, args=(pid,), daemon=True)
            self.clock.start()

    def _throttle(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            while not self.over.is_set():
                os.kill(pid, SIGSTOP)
                began = time.monotonic()
                self.over.wait(self.period * (1 - self.share))
                if proc.state(pid) == "T":
                    self.stopped += time.monotonic() - began
                os.kill(pid, SIGCONT)
                self.over.wait(self.period * self.share)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the process was stopped for more than half of the intended time."""
        life = evidence.life(self.guilty)
        lived = (life.ended or time.monotonic()) - life.started
        wanted = (1 - self.share) * lived / 2
        require(self.share < 1, "the worker has the processor all the time")
        proof = f"worker {self.guilty} stood still for {self.stopped:.1f} s of {lived:.1f} s"
        require(self.stopped > wanted, proof)
        return proof

    def cleanup(self) -> None:
        """Stop the throttling thread and wait for it."""
        self.over.set()
        if self.clock:
            self.clock.join()
