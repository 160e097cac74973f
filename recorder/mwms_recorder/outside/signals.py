"""Distinguishes signals sent to the supervisor alone from those that reached the command as well."""

from __future__ import annotations

import mmap
import signal
import time
from typing import Any

NOT_FORWARDED = {
    *(signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGPIPE),
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP),
    *(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),
}
"""Not catchable, crashes of the recorder itself, or job control, which reaches all processes anyway."""
SI_KERNEL = 0x80
GROUP_WAIT_SECONDS = 0.05


def forwarded() -> set[int]:
    """Return the numbers of the signals that are forwarded to the command."""
    return {int(number) for number in signal.valid_signals() - NOT_FORWARDED}


def awaited() -> set[int]:
    """Return the numbers of the signals that the supervisor waits for, and blocks so that none is lost."""
    return forwarded() | {int(signal.SIGCHLD)}


def named(number: int) -> dict[str, Any]:
    """Return a signal's number and name; real-time signals are named `SIGRTMIN+N`."""
    try:
        return {"number": number, "name": signal.Signals(number).name}
    except ValueError:
        return {"number": number, "name": f"SIGRTMIN+{number - signal.SIGRTMIN}"}


class ObserverSignals:
    """Counts of the signals that the observer received, in memory that it shares with the supervisor.

    Observer, supervisor and command share a process group. A signal that the observer received too was sent
    to the group, so the command has it already; forwarding it would deliver it twice.
    """

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("I")
        self._seen: dict[int, int] = {}

    def count(self, number: int, _frame: object) -> None:
        """Count a signal; installed as the observer's signal handler."""
        self._counts[number] += 1

    def reached_all(self, number: int) -> bool:
        """Return True if the observer receives the supervisor's signal too, within 0.05 s."""
        ends = time.monotonic() + GROUP_WAIT_SECONDS
        while self._counts[number] == self._seen.get(number, 0):
            if time.monotonic() > ends:
                return False
            time.sleep(0.002)
        self._seen[number] = self._counts[number]
        return True
