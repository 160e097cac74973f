"""Examines runs in a pool of local processes."""

import gc
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, TimeoutError, wait  # noqa: A004 - what Pebble raises

from pebble import ProcessExpired, ProcessPool

from analyzer.triage.examine.run_task import ExaminedRun, Task, broken, examine

_QUEUED_PER_PROCESS = 4
"""Number of tasks per process that are running or queued."""
_RUNS_PER_PROCESS = 400
"""Number of runs after which a process is replaced, to bound its memory."""


class ProcessPoolExaminer:
    """Examines runs in `count` processes; kills the process of a run after `timeout` seconds."""

    def __init__(self, count: int, timeout: float) -> None:
        self.count, self.timeout = count, timeout

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """Yield the result of each task as it ends; take new tasks only when the queue has space."""
        context = multiprocessing.get_context("spawn")
        running: dict[Future[ExaminedRun], Task] = {}
        with ProcessPool(
            self.count, max_tasks=_RUNS_PER_PROCESS, initializer=_initialize_process, context=context
        ) as pool:
            try:
                for task in tasks:
                    running[pool.schedule(examine, args=[task], timeout=self.timeout)] = task
                    if len(running) >= self.count * _QUEUED_PER_PROCESS:
                        yield from self._ended(running)
                while running:
                    yield from self._ended(running)
            except BaseException:
                pool.stop()  # type: ignore[no-untyped-call]
                raise

    def _ended(self, running: dict[Future[ExaminedRun], Task]) -> Iterator[ExaminedRun]:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield self._result(future, running.pop(future))

    def _result(self, future: Future[ExaminedRun], task: Task) -> ExaminedRun:
        try:
            return future.result()
        except TimeoutError:
            return broken(task, f"it took longer than {self.timeout:g} s", transient=True)
        except ProcessExpired as error:
            return broken(task, f"its process died: exit code {error.exitcode}", transient=True)


def _initialize_process() -> None:
    """Limit polars to one thread, because processes share the cores, and make garbage collection rare."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    gc.set_threshold(200_000, 50, 100)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
