"""Large logs are read beside this process, by others that are split off from it.

Threads (`ahead`) wait for each other wherever they run Python, and for all that this process imports while
they read: that makes a large run a tenth slower. Only a process without threads is split, for a lock that
another thread holds would never be released in the copy.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from struct import Struct
from types import TracebackType
from typing import Self

from analyzer.ingest.readings import Reading
from analyzer.model import Source

_MOST = 4096
"""Logs that are read here at most; their numbers have room in a pipe."""
_NUMBER = Struct("<I")
_DONE = Struct("<IIQQ")
"""The number of a log, the process that read it, and where in the memory of that one its readings lie."""
_LOOK = 0.1
"""Seconds between two looks at how far the others have come."""

Read = Callable[[Source, Callable[[int], None]], list[Reading]]
"""Reads a log, and tells how many of its bytes are read. Raises nothing that is not a mistake of ours."""
Watch = Callable[[Source, int], None]
"""Told a log, and how many of its bytes are read."""


def splittable() -> bool:
    """Whether this process may be split, and there is a core to gain by it."""
    with suppress(OSError, AttributeError):
        return (
            hasattr(os, "memfd_create")
            and len(os.sched_getaffinity(0)) > 1
            and len(list(Path("/proc/self/task").iterdir())) == 1
        )
    return False


class Beside:
    """Some logs, each read by one of as many processes as there are cores, the largest first.

    It holds none where this process cannot be split. `reader` is called before that, and gives what reads.
    """

    def __init__(
        self,
        logs: Sequence[Source],
        reader: Callable[[], Read],
        size: Callable[[Source], int],
        watch: Watch,
    ) -> None:
        self._logs = sorted(logs, key=size, reverse=True)[:_MOST] if logs and splittable() else []
        self._numbers = {log.name: number for number, log in enumerate(self._logs)}
        self._reader, self._watch = reader, watch
        self._readings: dict[int, list[Reading]] = {}
        self._memories: list[int] = []
        self._children: list[int] = []
        self._done = -1
        self._offsets = memoryview(mmap.mmap(-1, 8 * max(1, len(self._logs)))).cast("Q")
        """How far each log has been read; of all processes."""

    def __contains__(self, source: Source) -> bool:
        return bool(self._children) and source.name in self._numbers

    def __enter__(self) -> Self:
        if not self._logs:
            return self
        read, parent = self._reader(), os.getpid()
        waiting, wanted = os.pipe()
        os.write(wanted, b"".join(map(_NUMBER.pack, range(len(self._logs)))))
        os.close(wanted)
        self._done, done = os.pipe()
        for _ in range(min(len(self._logs), len(os.sched_getaffinity(0)))):
            with suppress(OSError):  # no room for another process, or for its memory
                self._memories.append(os.memfd_create("readings"))
                if not (pid := os.fork()):
                    self._work(waiting, done, lambda log: read(log, self._told(log, parent)))
                self._children.append(pid)
        os.close(waiting)
        os.close(done)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for child in self._children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for descriptor in (*self._memories, *([self._done] if self._logs else [])):
            os.close(descriptor)

    def __call__(self, source: Source) -> list[Reading] | None:
        """The readings of a log, as soon as they are there; None where the process that had it died."""
        number = self._numbers[source.name]
        while number not in self._readings:
            if not select([self._done], [], [], _LOOK)[0]:
                self._watch(source, self._offsets[number])
            elif message := os.read(self._done, _DONE.size):
                which, child, start, length = _DONE.unpack(message)
                held = os.pread(self._memories[child], length, start)
                self._readings[which] = pickle.loads(held)  # noqa: S301 - a copy of ourselves wrote it
            else:
                return None
        return self._readings.pop(number)

    def _work(self, waiting: int, done: int, read: Callable[[Source], list[Reading]]) -> None:
        """All that a process does that was split off: it reads the logs that nobody else has begun."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(self._done)
            child, memory, start = len(self._memories) - 1, self._memories[-1], 0
            while taken := os.read(waiting, _NUMBER.size):
                (number,) = _NUMBER.unpack(taken)
                held = pickle.dumps(read(self._logs[number]), 5)
                start += _written(memory, held)
                os.write(done, _DONE.pack(number, child, start - len(held), len(held)))
            status = 0
        finally:
            os._exit(status)  # what the process before it had begun is not to be ended twice

    def _told(self, log: Source, parent: int) -> Callable[[int], None]:
        """What is told how far a log is read, in a process whose parent may have gone."""
        number = self._numbers[log.name]

        def watch(offset: int) -> None:
            self._offsets[number] = offset
            if os.getppid() != parent:
                os._exit(1)

        return watch


def _written(memory: int, data: bytes) -> int:
    """Write all of it, and tell how much that is."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(memory, rest) :]
    return len(data)
