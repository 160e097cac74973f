"""What `mwms-train` shows of a running job: a table on a terminal, lines in a pipe."""

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
    """Events only, a line each."""

    def note(self, line: str) -> None:
        """Print it."""
        print(f"  {line}", flush=True)

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Say nothing: a pipe has no use for what is overwritten."""


class TableObserver:
    """A table of the workers that is drawn anew, with the events above it."""

    def __init__(self, live: Live) -> None:
        self.live = live

    def note(self, line: str) -> None:
        """Print it above the table."""
        self.live.console.print(f"  {line}", markup=False, highlight=False)

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Draw the table."""
        from rich.table import Table

        table = Table("worker", "state", box=None)
        table.add_column("step", justify="right")
        for one in statuses:
            table.add_row(one.worker, one.state, str(one.step))
        self.live.update(table)


@contextmanager
def job_observer() -> Iterator[JobObserver]:
    """Return whom to tell while a job runs; the table needs the extra [trainer], which brings `rich`."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        yield LineObserver()
        return
    from rich.live import Live

    with Live(transient=True) as live:
        yield TableObserver(live)
