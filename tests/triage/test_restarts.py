"""Whether a restart helped is told by the next run of the same job."""

from __future__ import annotations

import pytest

from analyzer.triage.restarts import Restart, job_of, restart


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ([], None),
        ([("healthy", None)], Restart(1, 1, "helped")),
        ([("failed", "this")], Restart(1, 0, "same")),
        ([("failed", "that")], Restart(1, 0, "other")),
        ([("healthy", None), ("failed", "this")], Restart(2, 1, "same")),
        ([("failed", "this"), ("healthy", None)], Restart(2, 1, "helped")),
    ],
)
def test_the_last_restart_is_compared_with_the_failure(
    outcomes: list[tuple[str | None, str | None]], told: Restart | None
) -> None:
    """It helped, failed in the same way, or failed in another way."""
    assert restart(outcomes, "this") == told


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("job/20261121-0100", "job/20261121-0300"),
        ("bert/48213", "bert/48240"),
        ("unet-48213", "unet"),
        ("2026-11-20/bert-attempt-2/run", "2026-11-21/bert/run"),
        ("sweep/48213_7", "sweep/48213_12"),
        ("gpt-3f2a9c1d7b", "gpt-90ab12cd34"),
        ("a/7c9e6679-7425-40de-944b-e07fc1f90ae7", "a/1763690400"),
        ("2026/11/20/bert", "2026/11/21/bert"),
        ("resnet/2026-11-25-04", "resnet/2026-11-25-06"),
        ("resnet/2026-11-25/04", "resnet/2026-11-26/08"),
        ("resnet/2026/11/25/04/10", "resnet/2026/11/25/06/10"),
        ("resnet-2026-11-25-04h", "resnet-2026-11-26-06h"),
        ("resnet/20261125_4", "resnet/20261125_12"),
        ("resnet/2026-11-25T04Z", "resnet/2026-11-25-06utc"),
    ],
)
def test_lives_of_one_job(one: str, other: str) -> None:
    """They differ in attempt, date, or the id that a scheduler gave."""
    assert job_of(f"/runs/{one}", "/runs") == job_of(f"/runs/{other}", "/runs") is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("job-17", "job-18"),
        ("team-a/bert", "team-b/bert"),
        ("resnet50", "resnet101"),
        ("job-00017", "job-00018"),
        ("resnet/04", "resnet/06"),
        ("2026-11-25/12-layers", "2026-11-25/24-layers"),
        ("bert-2026-11-25-12-layers", "bert-2026-11-25-24-layers"),
        ("multirun/2026-11-25/10-30-00/0", "multirun/2026-11-25/10-30-00/1"),
        ("2026-11-25/50x", "2026-11-25/101x"),
        ("2026-11-25-3d-unet", "2026-11-25-2d-unet"),
    ],
)
def test_different_jobs(one: str, other: str) -> None:
    """Short numbers and padded ones belong to the name."""
    assert job_of(f"/runs/{one}", "/runs") != job_of(f"/runs/{other}", "/runs")


@pytest.mark.parametrize("place", ["48213", "2026-11-20", "2026-11-20/48213", "attempt-2"])
def test_no_job_without_a_name(place: str) -> None:
    """Nothing tells which job it was."""
    assert job_of(f"/runs/{place}", "/runs") is None
