"""Small tables are worked on by one core.

polars hands each step of its work to threads of its own, and waits for them. Where they are on another core,
that one has to be woken, which takes longer than the step itself, in virtual machines above all: on small
tables, all takes a third less time where these threads take turns on one core.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 60_000
"""Rows of all tables up to which other cores are of no use."""

_PROCESSOR = 36
"""Where a line of /proc/PID/stat tells the core, counted from behind the name."""


@contextmanager
def one_core(tables: Mapping[str, pl.DataFrame]) -> Iterator[None]:
    """Let all threads of this process take turns on one core, if the tables are small.

    Nothing is changed where other threads run Python, or where the system lets nobody place threads.
    """
    before = _places() if sum(table.height for table in tables.values()) <= MOST_ROWS else {}
    try:
        if before:
            with suppress(OSError):  # no file can be opened any more
                core = {_core()}
                _place(lambda _thread: core)
        yield
    finally:
        if before:
            own = before[threading.get_native_id()]
            with suppress(OSError):
                _place(lambda thread: before.get(thread, own))


def _places() -> dict[int, set[int]]:
    """The cores that each thread may run on; empty where they are not all ours, or cannot be placed."""
    if threading.active_count() > 1:
        return {}
    import polars as pl

    pl.thread_pool_size()  # its threads begin by now, one for each core
    with suppress(OSError, AttributeError):
        return {thread: os.sched_getaffinity(thread) for thread in _threads()}
    return {}


def _place(cores: Callable[[int], set[int]]) -> None:
    """Tell each thread its cores; one that has begun meanwhile has those of whoever began it."""
    told: set[int] = set()
    while threads := _threads() - told:
        for thread in threads:
            with suppress(OSError):  # it has ended, or a core was taken away
                os.sched_setaffinity(thread, cores(thread))
        told |= threads


def _threads() -> set[int]:
    return {int(thread.name) for thread in Path("/proc/self/task").iterdir()}


def _core() -> int:
    """The core that this runs on."""
    return int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_PROCESSOR])
