"""Examines runs on a Dask cluster."""

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import islice
from time import monotonic
from typing import Any

from distributed import Client, wait

from analyzer.model.errors import UsageError
from analyzer.triage.examine.run_task import ExaminedRun, Task, broken, examine

_CONNECT_SECONDS = 10.0
"""Timeout for connecting to the scheduler, in seconds."""
_POLL_SECONDS = 1.0
"""Interval of the checks for runs that exceed their time limit, in seconds."""


class DaskExaminer:
    """Examines runs on the workers of a Dask scheduler; cancels runs after `timeout` seconds."""

    def __init__(self, address: str, timeout: float) -> None:
        self.address, self.timeout = address, timeout

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """Yield the result of each task as it ends; run as many tasks at once as the cluster has threads.

        Raises:
            UsageError: the scheduler does not answer, or has no workers.
        """
        try:
            client = Client(self.address, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"--scheduler {self.address}: {error or 'no answer'}") from error
        with client:
            if not client.nthreads():
                start = f"start one with: dask worker {self.address} --nthreads 1"
                raise UsageError(f"--scheduler {self.address}: it has no workers; {start}")
            yield from self._examine_all(client, iter(tasks))

    def _examine_all(self, client: Any, tasks: Iterator[Task]) -> Iterator[ExaminedRun]:  # noqa: ANN401 - untyped
        running: dict[Any, tuple[Task, float]] = {}
        while True:
            room = max(sum(client.nthreads().values()), 1) - len(running)
            for task in islice(tasks, max(room, 0)):
                running[client.submit(examine, task, pure=False)] = (task, monotonic())
            if not running:
                return
            for future in self._finished(list(running)):
                yield self._result(future, running.pop(future)[0])
            late = [each for each, (_, begun) in running.items() if monotonic() - begun > self.timeout]
            for future in late:
                future.cancel(force=True)
                problem = f"it took longer than {self.timeout:g} s"
                yield broken(running.pop(future)[0], problem, transient=True)

    def _finished(self, running: list[Any]) -> list[Any]:
        try:
            return list(wait(running, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _result(self, future: Any, task: Task) -> ExaminedRun:  # noqa: ANN401 - untyped
        try:
            result: ExaminedRun = future.result()
        except (Exception, CancelledError) as error:  # noqa: BLE001 - costs one run
            return broken(task, f"the cluster gave up on it: {type(error).__name__}: {error}", transient=True)
        return result
