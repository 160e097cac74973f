"""What is shown of a running job."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.live import Live

from analyzer.cli.terminal.live_table import LineObserver, TableObserver, job_observer
from analyzer.trainer.jobs.observer import WorkerStatus


def test_a_terminal_shows_every_worker_with_state_and_step() -> None:
    """As a table, with the events above it."""
    drawn = io.StringIO()
    with Live(console=Console(file=drawn, force_terminal=True, width=60)) as live:
        screen = TableObserver(live)
        screen.show([WorkerStatus("worker:0", "runs", 12), WorkerStatus("worker:1", "ended with -9", 11)])
        screen.note("worker 1 ended with -9 at step 11")
    told = drawn.getvalue()
    assert "worker 1 ended with -9 at step 11" in told
    table = told[told.rindex("state") :].splitlines()
    assert [line.split() for line in table[1:3]] == [
        ["worker:0", "runs", "12"],
        ["worker:1", "ended", "with", "-9", "11"],
    ]


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """No table, and no escape codes."""
    with job_observer() as observer:
        assert isinstance(observer, LineObserver)
        observer.show([WorkerStatus("worker:0", "runs", 1)])
        observer.note("worker 0 ended with 0 at step 60")
    assert capsys.readouterr().out == "  worker 0 ended with 0 at step 60\n"
