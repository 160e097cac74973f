"""Actions around each step: learning rate, shared statistics, requests to stop."""

from __future__ import annotations

import fcntl
import json
import sys
import time
from pathlib import Path
from typing import Any


class Schedule:
    """The learning rate of every step, one `step,rate` a line."""

    def __init__(self, path: str) -> None:
        self.lines = Path(path).read_text().splitlines()

    def rate(self, step: int) -> float:
        """Return the learning rate of a step that counts from one."""
        _, rate = self.lines[step - 1].split(",")
        return float(rate)


class Statistics:
    """Running statistics that the jobs of one machine share, under a lock."""

    def __init__(self, folder: str, every: int) -> None:
        self.folder, self.every = Path(folder), every

    def refresh(self, step: int) -> None:
        """Read the statistics again every `every` steps, and sleep if they ask for a later retry."""
        if step % self.every:
            return
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.values: Any = json.loads((self.folder / "statistics.json").read_text())
        time.sleep(self.values.get("retry_after", 0))


def stop_requested() -> None:
    """Exit with 0 if an operator has created a file named STOP in the working directory."""
    if Path("STOP").exists():
        sys.exit(0)
