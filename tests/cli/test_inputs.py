"""What is said before a directory is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.cli.inputs import MANY_RUNS, runs_within


def directories(root: Path, count: int, files: tuple[str, ...]) -> Path:
    """A directory of directories, each with these logs."""
    for number in range(count):
        for name in files:
            (root / f"bert-{number}").mkdir(parents=True, exist_ok=True)
            (root / f"bert-{number}" / name).write_text("step 1 loss 0.5\n")
    return root


@pytest.mark.parametrize(
    ("count", "files", "found"),
    [
        (MANY_RUNS + 4, ("worker-0.log", "worker-1.log"), MANY_RUNS + 4),
        (MANY_RUNS - 1, ("worker-0.log", "worker-1.log"), 0),
        (MANY_RUNS, ("stdout.txt", "stderr.txt"), 0),
        (MANY_RUNS, ("worker-0.log", "worker-0.err"), 0),
    ],
)
def test_runs_side_by_side_are_counted(
    count: int, files: tuple[str, ...], found: int, tmp_path: Path
) -> None:
    """A directory for each worker or host is a part of a run, and few attempts are no many runs."""
    assert runs_within(directories(tmp_path / "jobs", count, files)) == found
    assert runs_within(tmp_path / "jobs" / "bert-0" / files[0]) == runs_within(tmp_path / "nowhere") == 0


@pytest.mark.runs
def test_many_runs_are_pointed_out_before_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading hundreds takes a while, and nobody should wait for it without a word."""
    jobs = directories(tmp_path / "jobs", MANY_RUNS, ("worker-0.log", "worker-1.log"))
    main([str(jobs), "-o", str(tmp_path / "report.html")])
    first = capsys.readouterr().err.splitlines()[0]
    assert first.endswith("jobs: reads 16 directories; if each is a job, use mwms-triage")
