"""Without the files that tell whose fault it is, the cause is told and nobody is blamed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analyzer.pipeline import analyze

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


@pytest.mark.parametrize(
    ("name", "left_out", "culprit", "cause"),
    [
        ("disk-full-tf215", "df-*", "worker:1", "resource.disk_full"),
        ("disk-full-fit-tf24", "df-*", "worker:0", "resource.disk_full"),
        ("checkpoint-corrupt-tf215", "worker-0.log", "worker:2", "checkpoint.corrupt"),
    ],
)
def test_nobody_is_blamed_without_them(
    name: str, left_out: str, culprit: str, cause: str, tmp_path: Path
) -> None:
    """What stands in the other files is as true of a volume that all share."""
    run = tmp_path / "run"
    shutil.copytree(SAMPLES / name / "run", run)
    assert analyze([run]).document["culprits"] == [culprit]
    for path in run.glob(left_out):
        path.unlink()
    found = analyze([run]).document
    assert (found["cause"], found["culprits"]) == (cause, [])
