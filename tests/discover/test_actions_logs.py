"""The log archive of a run of GitHub Actions: its numbers count jobs and steps, not workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from tests.storage.test_archives import zipped

STEPS = ("1_Set up job", "2_Run actions_checkout@v4", "3_Run training", "9_Complete job")


def steps_of(job: str) -> dict[str, bytes]:
    """A file for each step of a job."""
    return {f"{job}/{step}.txt": b"step 1 loss 0.5\n" for step in STEPS}


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ({"0_train.txt": b"x\n", **steps_of("train")}, {"0_train.txt": None}),
        (
            {"4_train (worker 1).txt": b"x\n", "7_lint.txt": b"x\n", **steps_of("train (worker 1)"), **steps_of("lint")},
            {"4_train (worker 1).txt": "worker:1", "7_lint.txt": None},
        ),
        (steps_of("train"), dict.fromkeys(f"train/{step}.txt" for step in STEPS)),
        ({"0_train.txt": b"x\n", "train/3_part.txt": b"x\n"}, {"0_train.txt": "worker:0", "train/3_part.txt": "worker:3"}),
    ],
    ids=["a job and its steps", "several jobs", "steps alone", "other files with numbers"],
)  # fmt: skip
def test_each_job_is_one_log(
    files: Mapping[str, bytes], read: Mapping[str, str | None], tmp_path: Path
) -> None:
    """That of its whole output, if it is there; the steps hold the same lines."""
    sources = discover([zipped(tmp_path / "logs_7.zip", dict(files))]).sources
    assert {source.name: source.worker for source in sources if not source.skip} == read
    left_out = [source for source in sources if source.skip]
    assert all(source.skip.startswith("its lines are read from ") for source in left_out)
