"""Reads large logs, and many small ones, in forked child processes.

A large log that can be read at any offset is scanned in parts, so that all cores stay busy; then one process
combines the scans of all parts, selects the lines to read, and reads them. Small logs are read in groups.

The pool forks a first reader, which loads what all readers need and then forks the others; meanwhile, the
parent process imports the later stages. Tasks come through a pipe, results go into shared memory.
"""

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from select import poll, select
from struct import Struct
from typing import NamedTuple, NoReturn, Self

from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.blocks import BLOCK_BYTES, BlockScan, BlockScanner
from analyzer.ingest.scan.line_selection import Sampling
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.processes import (
    append,
    can_fork,
    child_is_running,
    core_count,
    is_running,
    reap,
    shared_array,
)
from analyzer.ingest.scan.scan_plan import (
    LogPart,
    LogScan,
    combine_parts,
    divisible_size,
    scan_log,
    scan_part,
)
from analyzer.model.budget import Budget
from analyzer.model.run import Source

MAX_TASKS = 1_000
"""Limit on the groups of a pool, and roughly on the parts: all tasks must fit into a pipe."""
MIN_PART_BYTES = 16 * BLOCK_BYTES
POLL_SECONDS = 0.1
"""How often the parent checks that its readers are alive."""

ScanLog = Callable[[Source], LogScan]
ReadLog = Callable[[Source, ScanLog], list[SourceRows]]
"""Reads a log, given the function that scans it. Expected errors become rows, not exceptions."""
LogProgress = Callable[[Source, int], None]
"""Called with a log and the number of its bytes that have been read."""

_WHOLE_GROUP, _COMBINE = -1, -2
"""Instead of a part's number: scan and read the whole group; combine a log's scanned parts and read it."""


class _Task(NamedTuple):
    """A task of a reader: a group of logs, and the part of its log to scan, or `_WHOLE_GROUP` or `_COMBINE`.

    `start` and `length` locate the list of the part scans to combine.
    """

    group: int
    part: int
    start: int = 0
    length: int = 0


class _Result(NamedTuple):
    """A finished task, the reader that did it, and the region of its result in that reader's memory."""

    group: int
    part: int
    reader: int
    start: int
    length: int


_TASK, _RESULT = Struct("<IiQQ"), Struct("<IiIQQ")


class ForkPool:
    """Reads groups of logs with one process per core; empty if this process must not fork."""

    def __init__(
        self,
        groups: Sequence[Sequence[Source]],
        load_prefilter: Callable[[], Prefilter],
        read: ReadLog,
        sampling: Sampling,
        budget: Budget,
        progress: LogProgress,
    ) -> None:
        """Plan to read `groups`; the first reader calls `load_prefilter` before it forks the others."""
        self._groups = groups[:MAX_TASKS] if groups and can_fork() else []
        self._numbers = {log.name: number for number, group in enumerate(self._groups) for log in group}
        self._load_prefilter, self._read = load_prefilter, read
        self._sampling, self._budget, self._progress = sampling, budget, progress
        self._parts: list[list[LogPart]] = []
        self._scanned: list[dict[int, _Result]] = [{} for _ in self._groups]
        self._combined = 0
        self._outputs: dict[str, list[SourceRows]] = {}
        self._collected = 0
        self._first_reader = 0
        self._result_memories: list[int] = []
        self._index_memory = self._tasks = self._results = -1
        self._offsets = shared_array(len(self._groups))
        """Bytes read so far of each log without parts."""
        self._other_readers = shared_array(core_count() if self._groups else 0)
        """Process id of each reader but the first; 0 once the reader has no work left."""

    def __contains__(self, source: Source) -> bool:
        """Return whether this pool reads a log."""
        return bool(self._first_reader) and source.name in self._numbers

    def __enter__(self) -> Self:
        """Fork the first reader and hand out all tasks."""
        if not self._groups:
            return self
        tasks = self._plan()
        task_output, self._tasks = os.pipe()
        self._results, result_input = os.pipe()
        packed = b"".join(_TASK.pack(*task) for task in tasks)
        os.set_blocking(self._tasks, False)
        with suppress(OSError):  # no room for another process, for its memory, or for the tasks
            if os.write(self._tasks, packed) < len(packed):
                raise BlockingIOError
            self._index_memory = os.memfd_create("index")
            readers = min(len(tasks), core_count())
            self._result_memories = [os.memfd_create("results") for _ in range(readers)]
            if not (pid := os.fork()):
                self._run_first_reader(task_output, result_input)
            self._first_reader = pid
        os.close(task_output)
        os.close(result_input)
        self._close_tasks_if_complete()
        return self

    def _plan(self) -> list[_Task]:
        """Divide the logs into parts, and return the tasks; those of groups without parts come first."""
        sizes = [divisible_size(group[0]) if len(group) == 1 else 0 for group in self._groups]
        step = max(MIN_PART_BYTES, -(-sum(sizes) // MAX_TASKS // BLOCK_BYTES) * BLOCK_BYTES)
        self._parts = [
            [LogPart(size, start, min(start + step, size)) for start in range(0, size, step)]
            for size in sizes
        ]
        tasks = [
            _Task(group, part)
            for group, parts in enumerate(self._parts)
            for part in range(len(parts)) or (_WHOLE_GROUP,)
        ]
        return sorted(tasks, key=lambda task: task.part != _WHOLE_GROUP)

    def __exit__(self, *_: object) -> None:
        """End all readers; kill them if not all logs were collected."""
        if self._collected < len(self._numbers):
            self._kill()
        for descriptor in (*self._result_memories, self._index_memory, self._tasks, self._results):
            if descriptor >= 0:
                os.close(descriptor)
        if self._first_reader:
            reap(self._first_reader)

    def _kill(self) -> None:
        """Kill all readers if the first one runs; once it has ended, the ids of the others may be reused."""
        if self._first_reader and child_is_running(self._first_reader):
            for reader in (*filter(None, self._other_readers), self._first_reader):
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(reader, signal.SIGKILL)

    def collect(self, source: Source) -> list[SourceRows] | None:
        """Wait for the rows of a log and return them; None if a reader died first."""
        number = self._numbers[source.name]
        while source.name not in self._outputs:
            alive = self._all_alive()  # asked first: a reader may write its last result and end meanwhile
            if select([self._results], [], [], POLL_SECONDS)[0]:
                if not (message := os.read(self._results, _RESULT.size)):
                    return None
                self._accept(_Result(*_RESULT.unpack(message)))
            elif not alive:
                return None
            parts = [self._parts[number][part] for part in self._scanned[number]]
            self._progress(source, self._offsets[number] + sum(part.end - part.start for part in parts))
        self._collected += 1
        return self._outputs.pop(source.name)

    def _all_alive(self) -> bool:
        others = filter(None, self._other_readers)
        return child_is_running(self._first_reader) and all(map(is_running, others))

    def _accept(self, result: _Result) -> None:
        """Note a result; once all parts of a log are scanned, hand out the task that combines them."""
        if result.part < 0:
            held = os.pread(self._result_memories[result.reader], result.length, result.start)
            self._outputs |= pickle.loads(held)  # noqa: S301 - a fork of ourselves wrote it
            return
        scanned = self._scanned[result.group]
        scanned[result.part] = result
        if len(scanned) == len(self._parts[result.group]):
            index = pickle.dumps([scanned[part] for part in sorted(scanned)])
            region = append(self._index_memory, index)
            with suppress(BrokenPipeError):  # no reader is left; whoever waits for the log will notice
                os.write(self._tasks, _TASK.pack(result.group, _COMBINE, *region))
            self._combined += 1
            self._close_tasks_if_complete()

    def _close_tasks_if_complete(self) -> None:
        """Close the pipe of tasks when none can follow; readers end when they find it empty."""
        if self._combined == sum(map(bool, self._parts)):
            tasks, self._tasks = (
                self._tasks,
                -1,
            )  # first, for an interrupt right after closing would close it twice
            os.close(tasks)

    def _run_first_reader(self, tasks: int, results: int) -> NoReturn:
        """Run the first reader: load what all readers need, fork the others, and work."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(self._results)
            os.close(self._tasks)
            prefilter = self._load_prefilter()
            number, others = self._fork_others()
            self._work(number, prefilter, tasks, results)
            self._other_readers[number] = 0
            for other in others:
                reap(other)
            status = 0
        finally:
            os._exit(status)  # never run what the parent registered for its own end

    def _fork_others(self) -> tuple[int, list[int]]:
        """Fork the other readers; return the number of this process among all readers, and its children."""
        others: list[int] = []
        with suppress(OSError):  # no room for another process: the readers there are do everything
            for number in range(1, len(self._result_memories)):
                if not (pid := os.fork()):
                    self._other_readers[number] = os.getpid()
                    return number, []
                others.append(pid)
        return 0, others

    def _work(self, reader: int, prefilter: Prefilter, tasks: int, results: int) -> None:
        """Process tasks until the queue is empty."""
        scanner = BlockScanner(prefilter)
        parent = poll()
        parent.register(results, 0)  # reports an error once the parent has closed its end
        while packed := os.read(tasks, _TASK.size):
            task = _Task(*_TASK.unpack(packed))
            result = pickle.dumps(self._do(task, prefilter, scanner, parent), pickle.HIGHEST_PROTOCOL)
            region = append(self._result_memories[reader], result)
            os.write(results, _RESULT.pack(task.group, task.part, reader, *region))

    def _do(
        self, task: _Task, prefilter: Prefilter, scanner: BlockScanner, parent: poll
    ) -> list[BlockScan] | dict[str, list[SourceRows]] | OSError:
        group, sampling, budget = self._groups[task.group], self._sampling, self._budget

        def progress(offset: int) -> None:
            if task.part == _WHOLE_GROUP:
                self._offsets[task.group] = max(self._offsets[task.group], offset)
            if parent.poll(0):
                os._exit(1)

        def scan(log: Source) -> LogScan:
            if task.part == _WHOLE_GROUP:
                return scan_log(log, lambda: prefilter, progress, sampling, budget)
            size, scans = self._parts[task.group][0].size, self._load_scans(task)
            return combine_parts(log, size, scans, prefilter, sampling, budget)

        if task.part < 0:
            return {log.name: self._read(log, scan) for log in group}
        part = self._parts[task.group][task.part]
        try:
            return scan_part(group[0], part, scanner, sampling, budget, progress)
        except OSError as error:
            return error

    def _load_scans(self, task: _Task) -> Iterator[BlockScan]:
        """Yield the scans of all blocks of a log, in order.

        Raises:
            OSError: one of its parts could not be read.
        """
        for result in pickle.loads(os.pread(self._index_memory, task.length, task.start)):  # noqa: S301 - ours
            memory = self._result_memories[result.reader]
            scans = pickle.loads(os.pread(memory, result.length, result.start))  # noqa: S301 - ours
            if isinstance(scans, OSError):
                raise scans
            yield from scans
