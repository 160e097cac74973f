"""Without the files that tell whose fault it is, the cause is told and nobody is blamed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from tests.recordings import Recordings, sample_run_named


@pytest.mark.parametrize(
    ("name", "left_out", "culprit", "cause"),
    [
        ("disk-full-tf215", "df-*", "worker:1", "resource.disk_full"),
        ("disk-full-fit-tf24", "df-*", "worker:0", "resource.disk_full"),
        ("checkpoint-corrupt-tf215", "worker-0.log", "worker:2", "checkpoint.corrupt"),
    ],
)
def test_nobody_is_blamed_without_them(
    name: str, left_out: str, culprit: str, cause: str, tmp_path: Path, recordings: Recordings
) -> None:
    """What stands in the other files is as true of a volume that all share."""
    run = tmp_path / "run"
    assert recordings.document(sample_run_named(name))["culprits"] == [culprit]
    shutil.copytree(sample_run_named(name) / "run", run)
    for path in run.glob(left_out):
        path.unlink()
    found = analyze([run]).document
    assert (found["cause"], found["culprits"]) == (cause, [])
