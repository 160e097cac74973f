"""The small parts of the trainer, without TensorFlow."""

from __future__ import annotations

import ast
import os
import sys
import time
from signal import Signals
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer.free_ports import free_ports
from analyzer.trainer.handover import HandoverError, check_target
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.jobs.sandbox.workspace import PROGRAM
from analyzer.trainer.jobs.step_counter import StepCounter
from analyzer.trainer.path_anonymizer import PathAnonymizer

if TYPE_CHECKING:
    from pathlib import Path

DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", flush=True)
time.sleep(60)
"""


def start(workers: WorkerProcesses, folder: Path, program: str) -> Path:
    """Start worker 0 and return its log."""
    log = folder / "0.log"
    workers.start(0, [sys.executable, "-c", program], folder, os.environ, log, log)
    return log


@pytest.mark.processes
def test_a_worker_deaf_to_sigterm_is_killed(tmp_path: Path) -> None:
    """Leaving the crew's block ends even a worker that takes no notice of SIGTERM."""
    with WorkerProcesses(grace=0.2) as workers:
        log = start(workers, tmp_path, DEAF)
        while b"on" not in (log.read_bytes() if log.exists() else b""):
            time.sleep(0.02)
        assert workers.exit_codes() == {0: None}
    assert workers.exit_codes() == {0: -Signals.SIGKILL}


@pytest.mark.processes
def test_an_error_ends_the_workers_too(tmp_path: Path) -> None:
    """An exception inside the block leaves nobody behind."""
    workers = WorkerProcesses(grace=0.2)
    with pytest.raises(KeyboardInterrupt), workers:  # noqa: PT012 - the worker must run first
        start(workers, tmp_path, "import time; time.sleep(60)")
        raise KeyboardInterrupt
    assert workers.running() == []


def test_progress_reads_bars_epoch_lines_and_steps(tmp_path: Path) -> None:
    """A step counts from one through all epochs, whatever the style of the log."""
    log = tmp_path / "w.log"
    progress = StepCounter(log, epoch_steps=20)
    assert not progress.read()
    log.write_bytes(b"Epoch 1/3\n\b\b\r 4/20 [===>....] - ETA: 0s - loss: 0.1")
    assert progress.read()
    log.write_bytes(
        log.read_bytes() + b"\b\b\b\r 5/20 [====>...] - loss: 0.1\nEpoch 2/3\n7/20 - 1s - loss: 0\n"
    )
    progress.read()
    assert progress.step == 27
    log.write_bytes(
        log.read_bytes() + b"2026-11-21 INFO train: step 31: batch of 64 ready\nstep=32 loss=0.5\n"
    )
    progress.read()
    assert progress.step == 32


def test_the_longest_path_wins_and_only_whole_names_count() -> None:
    """A path of this machine is replaced where it ends at the end of a name."""
    anonymizer = PathAnonymizer({"/a": "/usr", "/a/venv": "/opt/venv", "/a/venv/lib/site": "/opt/site"})
    told = anonymizer.text(b'"/a/venv/lib/site/tf.py" /a/venv/bin /a/lib /ab')
    assert told == b'"/opt/site/tf.py" /opt/venv/bin /usr/lib /ab'


def test_the_program_is_written_for_python_3_8() -> None:
    """The workers' program keeps to the grammar of the oldest Python that TensorFlow 2.4 runs on."""
    for file in PROGRAM.rglob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 8))


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    """A run is never mixed with what lies there already."""
    check_target(tmp_path)
    check_target(tmp_path / "new")
    (tmp_path / "mine.txt").touch()
    with pytest.raises(HandoverError, match="not an empty directory"):
        check_target(tmp_path)


def test_addresses_differ() -> None:
    """Each worker gets a port of its own."""
    assert len(set(free_ports(8))) == 8
