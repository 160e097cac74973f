"""The planted fleet of benchmarks/fleet.py, small: what the triage says of it is what was planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.triage.database.history import default_history_url, open_history
from benchmarks.fleet import GUILTY, Plan, fleet, nights_of
from benchmarks.fleet_recordings import gpu_job, recordings
from benchmarks.fleet_scores import scores
from benchmarks.grouping import agreement

NAMES = (
    "batch-size",
    "corrupt-record-tf24",
    "crashed-rotated",
    "healthy-custom-loop",
    "healthy-fit",
    "missing-file-tf24",
    "nan-loss",
    "tf-config-smaller",
    "worker-exception",
    "worker-killed",
)


@pytest.mark.recordings
def test_a_small_fleet_is_triaged_rightly(tmp_path: Path) -> None:
    """New causes, on the last night too, one that comes back, lives of jobs, and the machine that breaks most."""
    by_name = {each.name: each for each in recordings(NAMES)}
    given = Plan(
        healthy=[by_name[name] for name in NAMES if name.startswith("healthy") and name in by_name],
        usual=[by_name[name] for name in ("missing-file-tf24", "nan-loss", "worker-exception")],
        new={30: by_name["corrupt-record-tf24"], 46: gpu_job()},
        back=[by_name["batch-size"]],
        gone=[by_name["tf-config-smaller"]],
        guilty=[by_name[name] for name in ("worker-killed", "crashed-rotated")],
    )
    runs = list(fleet(given, nights=47, runs=6, hosts=20))
    with open_history(default_history_url(tmp_path)) as history:
        summaries = dict(nights_of(history, runs))
    for score in scores(given, runs, summaries):
        assert (score.found, score.false) == (score.planted, 0), score
    assert summaries[46].suspects[0].suspect.host == GUILTY


def test_agreement_of_groups() -> None:
    """Perfect, all in one group, and each by itself."""
    truth = ["a", "a", "b", "b"]
    assert agreement([(one, one) for one in truth]) == (1, 1, 1)
    assert agreement([(one, "all") for one in truth]) == pytest.approx((0.5, 0, 1))
    assert agreement(list(zip(truth, "1234", strict=True))) == pytest.approx((1, 1, 0.5))
