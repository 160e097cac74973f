"""Counts a worker's steps by reading its growing log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARK = re.compile(
    rb"Epoch (?P<epoch>\d+)/\d+$"
    rb"|(?P<batch>\d+)/\d+ (?:\[|- )"  # a Keras progress bar, or its line at the end of an epoch
    rb"|\b(?:global_)?step(?: = |: |[ =]|\": )(?P<step>\d+)\b"
)
LINE_END = re.compile(rb"[\r\n\b]+")


@dataclass
class StepCounter:
    """Reads a growing log file, and keeps the highest step, counted through all epochs."""

    path: Path
    epoch_steps: int
    epoch: int = 1
    step: int = 0
    offset: int = 0
    rest: bytes = field(default=b"", repr=False)
    new: bytes = field(default=b"", repr=False)

    def read(self) -> bool:
        """Read what was appended since the last call into `new`; return True unless it is empty."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            self.new = stream.read()
        self.offset += len(self.new)
        *lines, self.rest = LINE_END.split(self.rest + self.new)
        for step in self._steps(lines):
            self.step = max(self.step, step)
        return bool(self.new)

    def _steps(self, lines: list[bytes]) -> Iterator[int]:
        for line in lines:
            found = MARK.search(line)
            if not found:
                continue
            if found["epoch"]:
                self.epoch = int(found["epoch"])
            elif found["batch"]:
                yield (self.epoch - 1) * self.epoch_steps + int(found["batch"])
            else:
                yield int(found["step"])
