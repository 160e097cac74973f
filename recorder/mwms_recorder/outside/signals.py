"""Tells a signal that was sent to the supervisor alone from one that reached the command as well."""

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
"""Faults of the recorder itself, and what stops and continues supervisor, observer and command alike."""
SI_KERNEL = 0x80
GROUP_WAIT_SECONDS = 0.05


def forwarded() -> set[int]:
    """Return the signals that are passed on to the command."""
    return {int(number) for number in signal.valid_signals() - NOT_FORWARDED}


def named(number: int) -> dict[str, Any]:
    """Return a signal's number and name; real-time signals have no name of their own."""
    try:
        return {"number": number, "name": signal.Signals(number).name}
    except ValueError:
        return {"number": number, "name": f"SIGRTMIN+{number - signal.SIGRTMIN}"}


class Witness:
    """Counts in shared memory which signals the observer got.

    The observer is in the process group of the supervisor and of the command. A signal that it got too
    was sent to all of them, so the command has it already; forwarding it would deliver it twice.
    """

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("I")
        self._seen: dict[int, int] = {}

    def count(self, number: int, _frame: object) -> None:
        """Count a signal; the observer's handler."""
        self._counts[number] += 1

    def reached_all(self, number: int) -> bool:
        """Return whether the observer got a signal as well that the supervisor just got."""
        ends = time.monotonic() + GROUP_WAIT_SECONDS
        while self._counts[number] == self._seen.get(number, 0):
            if time.monotonic() > ends:
                return False
            time.sleep(0.002)
        self._seen[number] = self._counts[number]
        return True
