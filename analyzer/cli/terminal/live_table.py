"""Shows the status of a running `mwms-train` job: a table on a terminal, lines in a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.live import Live

    from analyzer.trainer.jobs.observer import JobObserver, WorkerStatus


class LineObserver:
    """Prints each event as a line."""

    def note(self, line: str) -> None:
        """Print an event as a line."""
        print(f"  {line}", flush=True)

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Do nothing: lines in a pipe cannot be updated."""


class SilentObserver:
    """Prints nothing: a task's standard output is part of the recorded log, which must not name the fault."""

    def note(self, line: str) -> None:
        """Do nothing."""

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Do nothing."""


class TableObserver:
    """Shows a table of the workers that is updated in place, with the events above it."""

    def __init__(self, live: Live) -> None:
        self.live = live

    def note(self, line: str) -> None:
        """Print an event above the table."""
        self.live.console.print(f"  {line}", markup=False, highlight=False)

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Update the table."""
        from rich.table import Table

        table = Table("worker", "state", box=None)
        table.add_column("step", justify="right")
        for one in statuses:
            table.add_row(one.worker, one.state, str(one.step))
        self.live.update(table)


@contextmanager
def job_observer() -> Iterator[JobObserver]:
    """Yield a table observer if stdout is a terminal and `rich` is installed, else a line observer."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        yield LineObserver()
        return
    from rich.live import Live

    with Live(transient=True) as live:
        yield TableObserver(live)
