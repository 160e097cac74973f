"""What reading one run may take: processor time, and bytes that are unpacked."""

from __future__ import annotations

import mmap
from math import isfinite
from time import thread_time_ns
from typing import NamedTuple


class Limits(NamedTuple):
    """The most that reading one run may take; infinity stands for no limit."""

    cpu_seconds: float = 300.0
    unpacked_gigabytes: float = 32.0
    """Gigabytes that all its archives and compressed files may unpack to."""

    def __str__(self) -> str:
        """Return the limits as on the command line: `300s,32GB`."""
        parts = [f"{each:g}{unit}" for each, unit in zip(self, ("s", "GB"), strict=True) if isfinite(each)]
        return ",".join(parts) or "none"


class OverBudgetError(OSError):
    """A limit is reached, and reading stops; the message names the limit."""


class Budget:
    """Counts what reading a run has taken so far; reader processes that are forked later share the count."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Begin with nothing spent."""
        self._limits = limits or Limits()
        self._spent = memoryview(mmap.mmap(-1, 16)).cast("Q")
        """Nanoseconds of processor time; unpacked bytes."""
        self._counted = thread_time_ns()

    def __reduce__(self) -> tuple[type[Budget], tuple[Limits]]:
        """Pickle only the limits: a process that unpickles a budget begins to count at zero."""
        return Budget, (self._limits,)

    def spend(self, unpacked: int = 0) -> None:
        """Count the processor time since the last call, and `unpacked` bytes.

        Raises:
            OverBudgetError: a limit is reached.
        """
        now = thread_time_ns()
        self._spent[0] += now - self._counted if now >= self._counted else now  # a fork begins at zero
        self._counted = now
        self._spent[1] += unpacked
        if excess := self.excess(unpacking=unpacked > 0):
            raise OverBudgetError(excess)

    def excess(self, *, unpacking: bool) -> str:
        """Return which limit is exceeded, or ''; the limit of bytes is checked only if `unpacking`."""
        seconds, gigabytes = self._limits
        if self._spent[0] > seconds * 1e9:
            return f"{BEYOND_BUDGET} {seconds:g} s of processor time"
        if unpacking and self._spent[1] > gigabytes * 1e9:
            return f"{BEYOND_BUDGET} {gigabytes:g} GB to unpack"
        return ""


BEYOND_BUDGET = "the rest exceeds the run's budget of"
"""First words of the `damage` row of a file that was read in part because a limit was reached."""
