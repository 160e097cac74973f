"""One real job of two workers, from its start until nothing is left of it."""

from __future__ import annotations

import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest

from analyzer.cli.train import main

SCENARIO = """\
description: Worker 1 of 2 is killed.
workers: 2
guilty: 1
step: 12
mode: custom
fault: {name: send_signal}
hands_over: [logs, exit_codes]
expect: {cause: peer.killed, culprits: [guilty]}
"""


def processes_with(mark: bytes) -> list[str]:
    """Return the processes that have the mark in the environment they were started with."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environ.read_bytes():
                found.append(environ.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.tensorflow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs the extra [trainer]")
def test_a_killed_worker_and_nobody_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The survivor fails, the exit codes say who was killed, and no process outlives the job."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv("JOB_MARK", mark)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    scenario = tmp_path / "killed.yaml"
    scenario.write_text(SCENARIO)
    assert main(["run", str(scenario), "-o", str(tmp_path / "run")]) == 0
    codes = (tmp_path / "run/exit_codes.txt").read_text().splitlines()
    # TensorFlow sometimes hangs in a survivor's exit; the trainer then ends it, which it writes as None.
    assert codes[0] in {"worker-0 1", "worker-0 None"}
    assert codes[1] == "worker-1 -9"
    assert "task:1" in (tmp_path / "run/worker-0.log").read_text()
    assert "Traceback" not in (tmp_path / "run/worker-1.log").read_text()
    assert processes_with(mark.encode()) == []
