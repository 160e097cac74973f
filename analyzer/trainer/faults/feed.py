"""Replaces the guilty worker's data file by a pipe that is slow, or stops at a step."""

from __future__ import annotations

import fcntl
import itertools
import os
import sys
import termios
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

BURST = 16
LEAST_SHARE = 0.3


@dataclass
class Feed(Fault):
    """Write `rows_per_second` into the pipe; with 0, write all rows before the step at once, then none."""

    rows_per_second: int = 0
    everyone: bool = False
    over: threading.Event = field(default_factory=threading.Event, init=False)
    writers: list[threading.Thread] = field(default_factory=list, init=False)
    pipes: list[int] = field(default_factory=list, init=False)
    size: int = field(default=0, init=False)
    written: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)
    taken: int = field(default=0, init=False)
    looks: int = field(default=0, init=False)
    empty: int = field(default=0, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Replace the data file by a named pipe, and start a thread that writes rows into it."""
        indices = range(workspace.scenario.workers) if self.everyone else [self.guilty]
        for index in indices:
            path = workspace.part_file(index)
            rows = path.read_bytes().splitlines(keepends=True)
            if not self.rows_per_second:
                rows = rows[: (self.step - 1) * workspace.scenario.batch_size]
            path.unlink()
            os.mkfifo(path)
            # opened for both, so that neither a missing reader nor one that left blocks the writer
            pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
            self.pipes.append(pipe)
            self.size += sum(map(len, rows))
            writer = threading.Thread(target=self._write, args=(pipe, rows), daemon=True)
            writer.start()
            self.writers.append(writer)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the pipe was read, and was empty in more than 30 % of the polls since."""
        evidence.life(self.guilty)
        require(self.writers, "no file became a pipe")
        require(self.taken, "nobody read from the pipe")
        share = self.empty / max(1, self.looks)
        proof = f"{self.taken:,} bytes read from the pipe, which was empty in {share:.0%} of the looks"
        require(self.rows_per_second or self.is_used_up, "the reader did not take all rows")
        require(share > LEAST_SHARE, proof)
        return proof

    def observe(self, workers: WorkerProcesses) -> None:  # noqa: ARG002 - as the job calls it
        """Count how many bytes were read and, from the first one on, whether each pipe is empty."""
        counts = [fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) for pipe in self.pipes]
        waiting = [int.from_bytes(count, sys.byteorder) for count in counts]
        self.waiting = sum(waiting)
        self.taken = self.written - self.waiting
        if self.taken:
            self.looks += len(waiting)
            self.empty += waiting.count(0)

    @property
    def is_used_up(self) -> bool:
        """Return True if all rows were written and read."""
        return self.written >= self.size and not self.waiting

    def _write(self, pipe: int, rows: list[bytes]) -> None:
        pause = BURST / self.rows_per_second if self.rows_per_second else 0
        bursts = [b"".join(rows[first : first + BURST]) for first in range(0, len(rows), BURST)]
        # with a pace they come for ever, as the reader repeats its file for ever
        for content in itertools.cycle(bursts) if pause else bursts:
            self._write_all(pipe, content)
            if self.over.wait(pause):
                break

    def _write_all(self, pipe: int, content: bytes) -> None:
        while content and not self.over.is_set():
            try:
                count = os.write(pipe, content)
                content, self.written = content[count:], self.written + count
            except BlockingIOError:
                time.sleep(0.01)

    def cleanup(self) -> None:
        """Stop the writers and close the pipes."""
        self.over.set()
        for writer in self.writers:
            writer.join()
        while self.pipes:
            os.close(self.pipes.pop())
