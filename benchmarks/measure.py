"""Commands side by side: each is run in turn, again and again, and only the ratios of one turn are compared.

What else the machine does slows down all of a turn; a ratio of neighbours says more than two medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parent.parent


class Sample(NamedTuple):
    """What one call took: seconds on the clock, seconds of all processors, largest memory in megabytes."""

    seconds: float
    cpu: float
    megabytes: float


class Spread(NamedTuple):
    """A median, and the least and the largest."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


def sample(command: Sequence[str]) -> Sample:
    """Run a command; one that measures itself says so by a last line of JSON, which then counts.

    Raises:
        RuntimeError: it ended by a signal, or with a status that none of ours and no search has.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with TemporaryFile() as said, TemporaryFile() as complaint:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=complaint, cwd=ROOT, env=environment)  # noqa: S603
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        told, complained = (_whole(each) for each in (said, complaint))
    if process.returncode not in {0, 1, 3}:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {complained[-300:]}")
    try:
        own = json.loads(told.splitlines()[-1])
        return Sample(own["seconds"], own["cpu"], own["megabytes"])
    except (IndexError, ValueError, TypeError, KeyError):
        return Sample(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def together(command: Sequence[str]) -> float:
    """The largest memory in megabytes that the processes of a command had at one time; 0 of one that had one.

    It is looked at a hundred times a second, in a call that does not count; what they share counts once.
    """
    most = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT) as process:  # noqa: S603
        first = psutil.Process(process.pid)
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                if others := first.children(recursive=True):
                    most = max(most, sum(one.memory_full_info().pss for one in (first, *others)) / 1e6)
            time.sleep(0.01)
    return most


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def turns(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Sample]]:
    """Samples of each command; one call of each goes before and does not count."""
    for command in commands.values():
        sample(command)
    found: dict[str, list[Sample]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(sample(command))
    return found


def spread(values: Sequence[float]) -> Spread:
    """The median of some values, and how far they lie apart."""
    return Spread(statistics.median(values), min(values), max(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Ours over theirs, turn by turn."""
    return spread([one / other for one, other in zip(ours, theirs, strict=True)])
