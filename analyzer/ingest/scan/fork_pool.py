"""Large logs are read beside this process, by others that are split off from it.

Threads (`ahead`) wait for each other wherever they run Python, and for all that this process imports while
they read: that makes a large run a tenth slower. Only a process without threads is split, for a lock that
another thread holds would never be released in the copy.

The first of the others makes ready what all of them need, while this process goes on, and splits off those.

A log that can be read at any place is looked through in parts, so that no core is idle before all are done;
then one process chooses from what was found, and takes that apart.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from select import poll, select
from struct import Struct
from types import TracebackType
from typing import NamedTuple, NoReturn, Self

from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.blocks import BLOCK, Block, Scanner
from analyzer.ingest.scan.line_selection import SamplingBudget
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.scan_plan import Part, Survey, conclude, divisible, look_through, survey
from analyzer.model.run import Source

_MOST = 1_000
"""Logs that are read here, and about the parts that all of them have: so many tasks have room in a pipe."""
_LEAST_PART = 16 * BLOCK
_LOOK = 0.1
"""Seconds between two looks at whether the others are alive."""

Surveyed = Callable[[Source], Survey]
Read = Callable[[Source, Surveyed], list[SourceRows]]
"""Reads a log, given what surveys it. Raises nothing that is not a mistake of ours."""
Watch = Callable[[Source, int], None]
"""Told a log, and how many of its bytes are read."""


class _Task(NamedTuple):
    """What is to be done with a log: look through a part of it, or read it, given where its blocks lie."""

    log: int
    part: int
    start: int = 0
    length: int = 0


class _Done(NamedTuple):
    """A task that is done, who did it, and where in the memory of that one the result lies."""

    log: int
    part: int
    reader: int
    start: int
    length: int


_TASK, _DONE = Struct("<IiQQ"), Struct("<IiIQQ")
_ALL, _REST = -1, -2
"""Instead of the number of a part: all of a log, or what is left when all its parts are looked through."""


def splittable() -> bool:
    """Whether this process may be split, and there is a core to gain by it."""
    with suppress(OSError, AttributeError):
        return (
            hasattr(os, "memfd_create")
            and len(os.sched_getaffinity(0)) > 1
            and len(list(Path("/proc/self/task").iterdir())) == 1
        )
    return False


class ForkPool:
    """Some logs, read by as many processes as there are cores; it holds none where this one cannot be split.

    `scout` is called by the first of them, and makes all ready that they need.
    """

    def __init__(
        self,
        logs: Sequence[Source],
        prefilter: Callable[[], Prefilter],
        read: Read,
        budget: SamplingBudget,
        watch: Watch,
    ) -> None:
        self._logs = list(logs[:_MOST]) if logs and splittable() else []
        self._numbers = {log.name: number for number, log in enumerate(self._logs)}
        self._scout, self._read, self._budget, self._watch = prefilter, read, budget, watch
        self._parts: list[list[Part]] = []
        self._found: list[dict[int, _Done]] = [{} for _ in self._logs]
        self._looked_through = 0
        self._readings: dict[int, list[SourceRows]] = {}
        self._asked_for: set[int] = set()
        self._first = 0
        self._memories: list[int] = []
        self._own = self._tasks = self._done = -1
        self._offsets = _shared(len(self._logs))
        """How far each log has been read that has no parts; of all processes."""
        self._readers = _shared(_cores() if self._logs else 0)
        """The process of each reader but the first, 0 once it has nothing left to do; of all processes."""

    def __contains__(self, source: Source) -> bool:
        return bool(self._first) and source.name in self._numbers

    def __enter__(self) -> Self:
        if not self._logs:
            return self
        sizes = [divisible(log) for log in self._logs]
        step = max(_LEAST_PART, -(-sum(sizes) // _MOST // BLOCK) * BLOCK)
        self._parts = [
            [Part(size, start, min(start + step, size)) for start in range(0, size, step)] for size in sizes
        ]
        tasks = [
            _Task(log, part) for log, parts in enumerate(self._parts) for part in range(len(parts)) or (_ALL,)
        ]
        tasks.sort(key=lambda task: task.part != _ALL)  # what cannot be parted takes longest
        waiting, self._tasks = os.pipe()
        self._done, done = os.pipe()
        packed = b"".join(_TASK.pack(*task) for task in tasks)
        os.set_blocking(self._tasks, False)
        with suppress(OSError):  # no room for another process, for its memory, or for the tasks
            if os.write(self._tasks, packed) < len(packed):
                raise BlockingIOError
            self._own = os.memfd_create("blocks")
            self._memories = [os.memfd_create("results") for _ in range(min(len(tasks), _cores()))]
            if not (pid := os.fork()):
                self._begin(waiting, done)
            self._first = pid
        os.close(waiting)
        os.close(done)
        self._end_tasks()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if len(self._asked_for) < len(self._logs):
            self._kill()
        for descriptor in (*self._memories, self._own, self._tasks, self._done):
            if descriptor >= 0:
                os.close(descriptor)
        if self._first:
            _wait_for(self._first)

    def _kill(self) -> None:
        """End all readers, whatever they do; without the first one, nobody knows who has their numbers."""
        if self._first and _runs(self._first):
            for reader in (*filter(None, self._readers), self._first):
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(reader, signal.SIGKILL)

    def __call__(self, source: Source) -> list[SourceRows] | None:
        """The readings of a log, as soon as they are there; None where one of the others died before."""
        number = self._numbers[source.name]
        while number not in self._readings:
            alive = self._all_alive()  # asked first: a reader may write its last result and end meanwhile
            if select([self._done], [], [], _LOOK)[0]:
                if not (message := os.read(self._done, _DONE.size)):
                    return None
                self._take(_Done(*_DONE.unpack(message)))
            elif not alive:
                return None
            parts = [self._parts[number][part] for part in self._found[number]]
            self._watch(source, self._offsets[number] + sum(part.end - part.start for part in parts))
        self._asked_for.add(number)
        return self._readings.pop(number)

    def _all_alive(self) -> bool:
        return _runs(self._first) and all(map(_lives, filter(None, self._readers)))

    def _take(self, done: _Done) -> None:
        """Note what is done; a log of which all parts are looked through can be read."""
        if done.part < 0:
            held = os.pread(self._memories[done.reader], done.length, done.start)
            self._readings[done.log] = pickle.loads(held)  # noqa: S301 - a copy of ourselves wrote it
            return
        found = self._found[done.log]
        found[done.part] = done
        if len(found) == len(self._parts[done.log]):
            start, length = _written(self._own, pickle.dumps([found[part] for part in sorted(found)]))
            os.write(self._tasks, _TASK.pack(done.log, _REST, start, length))
            self._looked_through += 1
            self._end_tasks()

    def _end_tasks(self) -> None:
        """When no task can come any more, whoever asks for one is told so, and ends."""
        if self._looked_through == sum(map(bool, self._parts)):
            os.close(self._tasks)
            self._tasks = -1

    def _begin(self, waiting: int, done: int) -> NoReturn:
        """All that the first reader does: it makes ready what all need, splits off the others, and reads."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(self._done)
            os.close(self._tasks)
            prefilter = self._scout()
            number, others = self._split()
            scan = Scanner(prefilter)
            waits = poll()
            waits.register(done, 0)  # an error, and nothing else: nobody can read what is written
            while given := os.read(waiting, _TASK.size):
                task = _Task(*_TASK.unpack(given))
                result = pickle.dumps(self._result(task, prefilter, scan, waits), pickle.HIGHEST_PROTOCOL)
                place = _written(self._memories[number], result)
                os.write(done, _DONE.pack(task.log, task.part, number, *place))
            self._readers[number] = 0
            for other in others:
                _wait_for(other)
            status = 0
        finally:
            os._exit(status)  # what the process before it had begun is not to be ended twice

    def _split(self) -> tuple[int, list[int]]:
        """Split off the other readers, and tell which of all this process is, and which are its own."""
        others: list[int] = []
        with suppress(OSError):  # no room for another process: those that there are read everything
            for number in range(1, len(self._memories)):
                if not (pid := os.fork()):
                    self._readers[number] = os.getpid()
                    return number, []
                others.append(pid)
        return 0, others

    def _result(
        self, task: _Task, prefilter: Prefilter, scan: Scanner, waits: poll
    ) -> list[Block] | list[SourceRows] | OSError:
        log = self._logs[task.log]

        def watch(offset: int) -> None:
            if task.part == _ALL:
                self._offsets[task.log] = offset
            if waits.poll(0):
                os._exit(1)

        if task.part == _ALL:
            return self._read(log, lambda log: survey(log, lambda: prefilter, watch, self._budget))
        if task.part == _REST:
            size = self._parts[task.log][0].size
            blocks = self._blocks(task)
            return self._read(log, lambda log: conclude(log, size, blocks, prefilter, self._budget))
        try:
            return look_through(log, self._parts[task.log][task.part], scan, self._budget, watch)
        except OSError as error:
            return error

    def _blocks(self, task: _Task) -> Iterator[Block]:
        """What was found in all parts of a log, part by part.

        Raises:
            OSError: one of them could not be read.

        """
        for done in pickle.loads(os.pread(self._own, task.length, task.start)):  # noqa: S301 - ours
            found = pickle.loads(os.pread(self._memories[done.reader], done.length, done.start))  # noqa: S301
            if isinstance(found, OSError):
                raise found
            yield from found


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _shared(places: int) -> memoryview:
    """So many numbers, which this process and those split off from it have in common."""
    return memoryview(mmap.mmap(-1, 8 * max(1, places))).cast("Q")


def _runs(child: int) -> bool:
    """Whether a child still runs; its end is left to whoever waits for it."""
    with suppress(ChildProcessError):  # the system waits for all of them itself
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    return False


def _wait_for(child: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _lives(process: int) -> bool:
    """Whether a process still runs; whose child it is waits for its end."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in {b"Z", b"X"}


def _written(memory: int, data: bytes) -> tuple[int, int]:
    """Write behind what stands there, and tell where that is, and how long."""
    start, rest = os.lseek(memory, 0, os.SEEK_CUR), memoryview(data)
    while rest:
        rest = rest[os.write(memory, rest) :]
    return start, len(data)
