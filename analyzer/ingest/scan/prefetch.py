"""Logs are surveyed ahead of their turn, side by side on the cores there are: where `beside` cannot do it.

Surveying is reading, decompressing and searching, which other threads need not wait for. What of a log was
chosen by that is taken apart in its turn, one log after the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from types import TracebackType
from typing import Self

from analyzer.ingest.scan.line_selection import SamplingBudget
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.scan_plan import Survey, survey
from analyzer.model.run import Source

_MOST_THREADS = 16
_HELD = 2
"""Surveys for each thread that are done, or under way, before the turn of their logs."""
_SWITCH = 0.0001
"""Seconds for which a thread holds the interpreter at most; surveys want it often, and each time briefly."""
_LOOK = 0.1
"""Seconds between two looks at how far the threads have come."""

Watch = Callable[[Source, int], None]
"""Told a log, and how many of its bytes are read."""


class _NobodyWaitsError(Exception):
    """Nobody waits for the survey any more."""


class Prefetch:
    """Surveys of some logs, each begun before it is asked for; of any other one, when it is asked for."""

    def __init__(
        self, logs: Sequence[Source], prefilter: Callable[[], Prefilter], budget: SamplingBudget, watch: Watch
    ) -> None:
        self._scout, self._budget, self._watch = prefilter, budget, watch
        self._waiting = list(logs)
        self._begun: dict[str, Future[Survey]] = {}
        self._offsets: dict[str, int] = {}
        self._stop = Event()
        self._cores = min(len(self._waiting), os.cpu_count() or 1, _MOST_THREADS)
        self._threads = ThreadPoolExecutor(self._cores, "survey") if self._waiting else None
        self._switch = sys.getswitchinterval()

    def __enter__(self) -> Self:
        if self._threads:
            sys.setswitchinterval(_SWITCH)
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
            sys.setswitchinterval(self._switch)

    def __call__(self, source: Source) -> Survey:
        """The survey of a log, as soon as it is there.

        Raises:
            OSError: the file cannot be read, or what it was packed with is broken.

        """
        future = self._begun.get(source.name)
        if future is None:
            return survey(source, self._scout, lambda offset: self._watch(source, offset), self._budget)
        while not wait([future], _LOOK).done:
            self._watch(source, self._offsets.get(source.name, 0))
        return future.result()

    def behind(self, source: Source) -> None:
        """A source has been read: its survey is forgotten, and the next one begins."""
        if self._begun.pop(source.name, None):
            self._begin()

    def _begin(self) -> None:
        while self._threads and self._waiting and len(self._begun) < _HELD * self._cores:
            source = self._waiting.pop(0)
            self._begun[source.name] = self._threads.submit(self._surveyed, source)

    def _surveyed(self, source: Source) -> Survey:
        def watch(offset: int) -> None:
            if self._stop.is_set():
                raise _NobodyWaitsError
            self._offsets[source.name] = offset

        return survey(source, lambda: self._scout().twin(), watch, self._budget)
