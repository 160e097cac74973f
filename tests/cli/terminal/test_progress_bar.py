"""How far the reading has come is shown on a terminal, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from analyzer.cli.terminal import progress_bar
from analyzer.cli.terminal.progress_bar import ProgressBar
from analyzer.discover import discover
from analyzer.ingest import ingest
from analyzer.pipeline import load_rules
from tests.recordings import ROOT

RUN = ROOT / "sample_runs" / "worker-killed" / "run"
IMPATIENT = """
import sys
from analyzer.cli.terminal import progress_bar
from analyzer.cli.analyze import main
progress_bar.DELAY_SECONDS = 0
sys.exit(main(sys.argv[1:]))
"""


class Screen(io.StringIO):
    """A terminal that keeps what is written on it."""

    def isatty(self) -> bool:
        """It says so."""
        return True


def told(run: Path) -> list[tuple[str, int, int]]:
    """What is said of the reading of a run."""
    calls: list[tuple[str, int, int]] = []
    ingest(discover([run]), [], load_rules().messages, lambda *call: calls.append(call))
    return calls


@pytest.mark.recordings
def test_the_bytes_of_every_source_are_counted() -> None:
    """In order, up to all of them."""
    calls = told(RUN)
    whole = sum(path.stat().st_size for path in RUN.rglob("*") if path.is_file())
    assert {call[2] for call in calls} == {whole}
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)
    assert calls[-1][1] == whole
    assert {call[0] for call in calls} == {source.name for source in discover([RUN]).sources}


def test_a_short_reading_says_nothing() -> None:
    """Two seconds pass in silence."""
    screen = Screen()
    with ProgressBar(screen) as shown:
        shown("worker-0.log", 1, 2)
    assert screen.getvalue() == ""


def test_a_long_one_is_drawn_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, never longer than the terminal; also when it is interrupted."""
    monkeypatch.setattr(progress_bar, "DELAY_SECONDS", 0)
    screen = Screen()
    with suppress(KeyboardInterrupt), ProgressBar(screen) as shown:
        shown("worker-0\x1b[31m\n.log" * 20, 512, 1024)
        raise KeyboardInterrupt
    drawn = screen.getvalue()
    assert "50% of 1.02 kB" in drawn
    assert drawn.startswith("\r\x1b[K")
    assert drawn.endswith("\r\x1b[K")
    assert "\n" not in drawn
    assert drawn.count("\x1b") == 2
    assert len(drawn) < 90


def test_a_dumb_terminal_and_a_pipe_see_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape codes would stay there."""
    monkeypatch.setattr(progress_bar, "DELAY_SECONDS", 0)
    monkeypatch.setenv("TERM", "dumb")
    for screen in (Screen(), io.StringIO()):
        with ProgressBar(screen) as shown:
            shown("worker-0.log", 1, 2)
        monkeypatch.setenv("TERM", "xterm")
        assert screen.getvalue() == ""


def on_terminal(arguments: list[str], folder: Path) -> tuple[str, str]:
    """What a call writes on standard output, a pipe, and on standard error, a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", IMPATIENT, *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        printed, shown = process.communicate(timeout=60)[0], b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return printed, shown.decode()


@pytest.mark.processes
def test_it_is_drawn_on_a_real_terminal_without_a_trace(tmp_path: Path) -> None:
    """Standard output holds the report alone."""
    printed, shown = on_terminal([str(RUN), "-o", "-", "--format", "json"], tmp_path)
    assert printed.startswith("{")
    assert "reading [" in shown
    assert shown.rpartition("\r\x1b[K")[2] == ""


@pytest.mark.processes
def test_in_a_pipe_nothing_is_drawn(tmp_path: Path) -> None:
    """However long it takes."""
    command = [sys.executable, "-c", IMPATIENT, str(RUN), "-o", "-", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
