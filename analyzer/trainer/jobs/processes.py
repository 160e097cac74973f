"""The worker processes of one job, which all end with it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from contextlib import ExitStack, suppress
from signal import Signals
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, Signals.SIGKILL)


class WorkerProcesses:
    """The started processes by worker index; leaving the `with` block ends all of them."""

    def __init__(self, grace: float = 3.0) -> None:
        self.grace = grace
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
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
            self.processes[index] = subprocess.Popen(  # noqa: S603 - the trainer's own program
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def restart(self, index: int) -> None:
        """Start a worker again with the same command."""
        self.started[index]()

    def send(self, index: int, number: Signals) -> None:
        """Send a signal to one worker if it is still running."""
        if self.processes[index].poll() is None:
            self.processes[index].send_signal(number)

    def running(self) -> list[int]:
        """Return the indexes of the running workers."""
        return [index for index, process in self.processes.items() if process.poll() is None]

    def exit_codes(self) -> dict[int, int | None]:
        """Return exit codes by worker: negative for a signal, None while it runs."""
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
                os.killpg(self.processes[index].pid, number)
