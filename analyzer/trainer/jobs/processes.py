"""Starts the worker processes of one job, and ends them when the job ends."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING, Protocol, Self

from analyzer.trainer.jobs.flight_recorder import RecordedProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PR_SET_PDEATHSIG = 1
YOUNG_SECONDS = 3.0
LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Make the kernel kill this process when the trainer dies; to be called between fork and exec."""
    LIBC.prctl(PR_SET_PDEATHSIG, Signals.SIGKILL)


class Process(Protocol):
    """A worker's process: a `Popen`, or a command under the recorder."""

    @property
    def pid(self) -> int:
        """Return the ID of the process that computes."""

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""

    def wait(self) -> int:
        """Wait for the end, and return the exit code."""

    def send_signal(self, number: int, /) -> None:
        """Send a signal to the process alone."""


@dataclass
class Life:
    """One process of a worker, with its start and end as monotonic times (end 0 while it runs).

    The start is noted before the process exists, so that a time limit never seems to end it too early.
    """

    index: int
    process: Process
    started: float = field(default_factory=time.monotonic)
    ended: float = 0.0

    @property
    def pid(self) -> int:
        """Return the process ID."""
        return self.process.pid

    @property
    def code(self) -> int | None:
        """Return the exit code, negative for a signal, None while it runs; record the end when first seen."""
        code = self.process.poll()
        if code is not None and not self.ended:
            self.ended = time.monotonic()
        return code

    def is_young(self) -> bool:
        """Return True in the first 3 seconds, in which a wrapper may still exec the program."""
        return time.monotonic() - self.started < YOUNG_SECONDS


class WorkerProcesses:
    """The worker processes of a job by index; leaving the `with` block ends all of them."""

    def __init__(self, grace: float = 3.0, *, recorded: bool = False) -> None:
        self.grace = grace
        self.recorded = recorded
        """True if the commands run under mwms-recorder."""
        self.processes: dict[int, Process] = {}
        self.lives: list[Life] = []
        self.started: dict[int, Callable[[], None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(
        self, index: int, command: Sequence[str], cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> None:
        """Start a worker in a new session, with its output appended to files."""
        self.started[index] = lambda: self.start(index, command, cwd, env, out, err)
        with ExitStack() as files:
            stdout = files.enter_context(out.open("ab"))
            stderr = subprocess.STDOUT if err == out else files.enter_context(err.open("ab"))
            began = time.monotonic()
            process = subprocess.Popen(  # noqa: S603 - the trainer's own program
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.processes[index] = RecordedProcess.of(process) if self.recorded else process
        self.lives.append(Life(index, self.processes[index], began))

    def restart(self, index: int) -> None:
        """Start a worker again with the arguments of its last `start`."""
        self.started[index]()

    def send(self, index: int, number: Signals) -> bool:
        """Send a signal to one worker; return False if it has ended."""
        if self.processes[index].poll() is not None:
            return False
        self.processes[index].send_signal(number)
        return True

    def alive(self) -> list[Life]:
        """Return the running processes, and record the end times of the others."""
        return [life for life in self.lives if life.code is None]

    def running(self) -> list[int]:
        """Return the indexes of the running workers."""
        return [index for index, process in self.processes.items() if process.poll() is None]

    def exit_codes(self) -> dict[int, int | None]:
        """Return the exit code by worker index: negative for a signal, None while running."""
        return {index: process.poll() for index, process in self.processes.items()}

    def end(self) -> None:
        """End all running workers: SIGTERM, then SIGKILL, since TensorFlow ≥ 2.11 only logs SIGTERM."""
        self._signal_groups(Signals.SIGTERM)
        deadline = time.monotonic() + self.grace
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.05)
        self._signal_groups(Signals.SIGKILL)
        for process in self.processes.values():
            process.wait()

    def _signal_groups(self, number: Signals) -> None:
        for index in self.running():
            with suppress(ProcessLookupError):
                os.killpg(os.getpgid(self.processes[index].pid), number)
