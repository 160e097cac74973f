"""Sends a signal to the guilty worker when it reaches the step."""

from __future__ import annotations

from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses


@dataclass
class SendSignal(Fault):
    """`signal` is a name without its SIG: KILL, STOP, SEGV, ABRT, TERM, INT.

    It is sent when the guilty worker has come to the step, or, with `when: anyone`, when somebody has;
    to the guilty worker only, or to `everyone`.
    """

    signal: str = "KILL"
    when: str = "guilty"
    everyone: bool = False
    sent: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if f"SIG{self.signal}" not in Signals.__members__:
            raise ValueError(f"no such signal: {self.signal!r}")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Send it once."""
        if (index == self.guilty or self.when == "anyone") and step >= self.step and not self.sent:
            self.sent = True
            for one in workers.processes if self.everyone else [self.guilty]:
                workers.send(one, Signals[f"SIG{self.signal}"])
