"""The guilty worker reads its data from a pipe that is slow, or falls silent."""

from __future__ import annotations

import itertools
import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.workspace import Workspace

BURST = 16


@dataclass
class Feed(Fault):
    """`rows_per_second` is the speed; without it, all rows before the step come at once, and then none."""

    rows_per_second: int = 0
    everyone: bool = False
    over: threading.Event = field(default_factory=threading.Event, init=False)
    writers: list[threading.Thread] = field(default_factory=list, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Replace the data file by a pipe with a writer."""
        indices = range(workspace.scenario.workers) if self.everyone else [self.guilty]
        for index in indices:
            path = workspace.part_file(index)
            rows = path.read_bytes().splitlines(keepends=True)
            if not self.rows_per_second:
                rows = rows[: (self.step - 1) * workspace.scenario.batch_size]
            path.unlink()
            os.mkfifo(path)
            writer = threading.Thread(target=self._write, args=(path, rows), daemon=True)
            writer.start()
            self.writers.append(writer)

    def _write(self, path: Path, rows: list[bytes]) -> None:
        # opened for both, so that neither a missing reader nor one that left blocks the writer
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        pause = BURST / self.rows_per_second if self.rows_per_second else 0
        bursts = [b"".join(rows[first : first + BURST]) for first in range(0, len(rows), BURST)]
        # with a pace they come for ever, as the reader repeats its file for ever
        for content in itertools.cycle(bursts) if pause else bursts:
            self._write_all(pipe, content)
            if self.over.wait(pause):
                break
        self.over.wait()
        os.close(pipe)

    def _write_all(self, pipe: int, content: bytes) -> None:
        while content and not self.over.is_set():
            try:
                content = content[os.write(pipe, content) :]
            except BlockingIOError:
                time.sleep(0.01)

    def cleanup(self) -> None:
        """Stop writing."""
        self.over.set()
        for writer in self.writers:
            writer.join()
