"""Provides the actions of each step: learning rate, shared statistics, stop requests."""

from __future__ import annotations

import fcntl
import json
import sys
import time
from pathlib import Path
from typing import Any


class Schedule:
    """Learning rate by step, from a file with one `step,rate` per line."""

    def __init__(self, path: str) -> None:
        self.lines = Path(path).read_text().splitlines()

    def rate(self, step: int) -> float:
        """Return the learning rate of a step; steps count from one."""
        _, rate = self.lines[step - 1].split(",")
        return float(rate)


class Statistics:
    """Running statistics in a file that the jobs of one machine share under a lock."""

    def __init__(self, folder: str, every: int) -> None:
        self.folder, self.every = Path(folder), every

    def refresh(self, step: int) -> None:
        """Reload the statistics on every `every`-th step, and sleep for `retry_after` seconds if set."""
        if step % self.every:
            return
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.values: Any = json.loads((self.folder / "statistics.json").read_text())
        time.sleep(self.values.get("retry_after", 0))


def stop_requested() -> None:
    """Exit with status 0 if the working directory contains a file named STOP."""
    if Path("STOP").exists():
        sys.exit(0)
