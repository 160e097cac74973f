"""One log of a job tells less than all of them, and nothing that is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from tests.recordings import expected, sample_run_named

SEEN_FROM_OUTSIDE = {"peer.vanished", "hang.worker_never_joined", "hang.at_startup"}
"""What the log of a peer can tell of a worker whose own log is not there, however that one ended."""


@pytest.mark.recordings
@pytest.mark.parametrize(
    "name",
    [
        "port-in-use", "proxy", "strategy-late-one", "tf-config-absent-last-tf218", "tf-config-smaller",
        "worker-exception", "worker-killed", "worker-never-joined",
    ],
)  # fmt: skip
def test_a_log_alone_blames_nobody_wrongly(name: str, tmp_path: Path) -> None:
    """Each log in turn, without any other file: a cause is right, or told as little sure as it is."""
    sample = sample_run_named(name)
    truth = expected(sample)
    logs = [
        path for path in sorted((sample / "run").rglob("*")) if path.suffix == ".log" or "std" in path.name
    ]
    assert len(logs) > 1
    for number, log in enumerate(logs):
        run = tmp_path / str(number) / log.parent.relative_to(sample / "run")
        run.mkdir(parents=True)
        shutil.copy(log, run)
        found = analyze([tmp_path / str(number)]).document
        assert set(found["culprits"]) <= {*truth["culprits"], *truth["suspects"]}, log.name
        causes = {truth["cause"], *truth.get("accept", []), None, "unknown"}
        unsure = found["cause"] in SEEN_FROM_OUTSIDE and found["confidence"] <= 0.6
        assert found["cause"] in causes or unsure, (log.name, found["cause"], found["confidence"])
