"""Workers that run under mwms-recorder."""

from __future__ import annotations

import json
import os
from signal import Signals
from typing import TYPE_CHECKING

import pytest

from analyzer.model.errors import UserError
from analyzer.trainer.jobs import flight_recorder
from analyzer.trainer.jobs.flight_recorder import recorder_command, recordings
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.scoring.holdout_results import FirstTry
from analyzer.trainer.scoring.recorder_scores import recorder_table
from analyzer.trainer.scoring.scoreboard import Score
from analyzer.trainer.witness.proc import command_line

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.processes
def test_a_fault_strikes_the_worker_and_not_its_recorder(tmp_path: Path) -> None:
    """The worker is killed; its recorder passes the signal on, and has recorded it."""
    config = {"cluster": {}, "task": {"type": "worker", "index": 1}}
    command = recorder_command(["sleep", "60"], tmp_path / "run")
    with WorkerProcesses(recorded=True) as workers:
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        workers.start(1, command, tmp_path, environment, tmp_path / "log", tmp_path / "log")
        assert workers.send(1, Signals.SIGKILL)
        workers.processes[1].wait()
        assert workers.exit_codes() == {1: -9}
    left = recordings(tmp_path / "run")
    (end,) = [line for line in left["worker-1/recording.jsonl"].splitlines() if b'"end"' in line]
    assert json.loads(end)["signal"]["name"] == "SIGKILL"


@pytest.mark.processes
def test_a_probe_of_the_recorder_is_not_taken_for_its_command(tmp_path: Path) -> None:
    """A recorder under load may have started `nvidia-smi` or the like before its command."""
    config = {"cluster": {}, "task": {"type": "worker", "index": 1}}
    recorded = recorder_command(["sleep", "60"], tmp_path / "run")
    recorded[2] = f"import subprocess\nprobe = subprocess.Popen(['sleep', '50'])\n{recorded[2]}"
    with WorkerProcesses(recorded=True) as workers:
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        workers.start(1, recorded, tmp_path, environment, tmp_path / "log", tmp_path / "log")
        assert command_line(workers.processes[1].pid) == ("sleep", "60")


def test_a_missing_recorder_is_an_error_that_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the trainer is installed, no checkout is around it."""
    monkeypatch.setattr(flight_recorder, "DISTRIBUTION", tmp_path / "recorder")
    monkeypatch.setattr(flight_recorder, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install \./recorder"):
        recorder_command(["true"], tmp_path)


@pytest.mark.recordings
def test_the_table_has_both_answers(tmp_path: Path) -> None:
    """That on the usual run of the same scenario, and the first and today's under the recorder."""
    for name in ("killed-tf215", "recorded/killed"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "origin.md").write_text("| scenario | `scenarios/killed.yaml` |\n")
    (tmp_path / "recorded" / "known_misses.yaml").write_text("killed: nobody was named\n")
    truth, said = "peer.killed worker:1", "peer.killed"
    right = Score("killed-tf215", "2.15", truth, truth, 0.9, "right", "right")
    wrong = Score("killed", "2.21", truth, said, 0.8, "right", "abstained")
    first = FirstTry("killed", "2.21", "abc", truth, "unknown", "0.0", "abstained", "abstained")
    table = recorder_table(tmp_path, [right], [wrong], [first]).splitlines()
    told = [
        "right",
        "unknown (cause abstained, culprit abstained)",
        f"{said} (cause right, culprit abstained)",
    ]
    assert table[2] == f"| killed | 2.21 | {truth} | {' | '.join(told)} |"
    assert table[3:] == ["| together |  |  | 1 of 1 | 0 of 1 | 0 of 1 |", "", "- `killed`: nobody was named."]
