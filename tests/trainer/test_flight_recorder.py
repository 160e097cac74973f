"""Workers that run under mwms-recorder."""

from __future__ import annotations

import json
import os
from signal import Signals
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer.jobs.flight_recorder import recorded, recordings
from analyzer.trainer.jobs.processes import WorkerProcesses

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.processes
def test_a_fault_strikes_the_worker_and_not_its_recorder(tmp_path: Path) -> None:
    """The worker is killed; its recorder passes the signal on, and has recorded it."""
    config = {"cluster": {}, "task": {"type": "worker", "index": 1}}
    command = recorded(["sleep", "60"], tmp_path / "run")
    with WorkerProcesses(recorded=True) as workers:
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        workers.start(1, command, tmp_path, environment, tmp_path / "log", tmp_path / "log")
        assert workers.send(1, Signals.SIGKILL)
        workers.processes[1].wait()
        assert workers.exit_codes() == {1: -9}
    left = recordings(tmp_path / "run")
    (end,) = [line for line in left["worker-1/recording.jsonl"].splitlines() if b'"end"' in line]
    assert json.loads(end)["signal"]["name"] == "SIGKILL"
