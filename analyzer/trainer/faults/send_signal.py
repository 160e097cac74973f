"""Sends a signal to the guilty worker when it reaches the step."""

from __future__ import annotations

from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import Life, WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class SendSignal(Fault):
    """Send `signal`, a name without SIG: KILL, STOP, SEGV, ABRT, TERM, INT.

    The signal is sent when the guilty worker reaches the step (with `when: anyone`: when any worker does),
    to the guilty worker only or, with `everyone`, to all workers.
    """

    fits_any_program: ClassVar[bool] = True
    signal: str = "KILL"
    when: str = "guilty"
    everyone: bool = False
    deadly: bool = False
    """The process has to end by the signal, as by SIGKILL, or the run is refused."""
    sent: list[Life] = field(default_factory=list, init=False)
    ignoring: set[int] = field(default_factory=set, init=False)
    stopped: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        if f"SIG{self.signal}" not in Signals.__members__:
            raise ValueError(f"no such signal: {self.signal!r}")

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Send the signal once, when the worker that `when` selects reaches the step."""
        if (index == self.guilty or self.when == "anyone") and step >= self.step and not self.struck:
            self.strike()
            for one in workers.processes:
                if self.everyone or one == self.guilty:
                    self._send(workers, one, Signals[f"SIG{self.signal}"])

    def _send(self, workers: WorkerProcesses, index: int, number: Signals) -> None:
        pid = workers.processes[index].pid
        if proc.has_signal(pid, "SigIgn", number):
            self.ignoring.add(pid)
        if workers.send(index, number):
            self.sent += [life for life in workers.lives if life.pid == pid]

    def observe(self, workers: WorkerProcesses) -> None:
        """Record which of the signalled processes are stopped (state T)."""
        for life in workers.alive():
            if life in self.sent and proc.state(life.pid) == "T":
                self.stopped.add(life.pid)

    def witness(self, evidence: Evidence) -> str:
        """Return proof by wait status, process state or signal masks that the signal reached each process."""
        require(self.struck, f"the job never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        require(self.sent, f"worker {self.guilty} had ended before SIG{self.signal} was sent")
        return "; ".join(self._arrival(life) for life in self.sent)

    def _arrival(self, life: Life) -> str:
        number, name = Signals[f"SIG{self.signal}"], f"worker {life.index}"
        if life.code == -number:
            return f"{name}: wait status of SIG{self.signal}"
        deadly = self.deadly or number == Signals.SIGKILL
        require(not deadly, f"{name} ended with {life.code}, not by SIG{self.signal}")
        if number == Signals.SIGSTOP:
            require(life.pid in self.stopped, f"{name} did not stand still")
            return f"{name}: state T in /proc"
        require(life.pid not in self.ignoring, f"{name} ignores SIG{self.signal}")
        require(not proc.has_signal(life.pid, "ShdPnd", number), f"{name} never took SIG{self.signal}")
        return f"{name}: SIG{self.signal} taken from its queue"
