"""A file that a collector wrote may hold the logs of one job or of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.identify.jobs.sample_jobs import JOBS, files, jobs_of, one_job

pytestmark = pytest.mark.recordings

MakeRun = Callable[[Mapping[str, str]], Path]


def in_one_file(job: str, label: str) -> str:
    """Return the logs of a job as one that a collector wrote with a label before each line."""
    logs = {name: text for name, text in files(job, "{worker}").items() if text.count("\n") > 1}
    return "".join(
        f"{label.format(name)} {line}\n" for name, text in logs.items() for line in text.splitlines()
    )


@pytest.mark.parametrize("label", ["[pod/{}-{{}}/tensorflow]", "{}-{{}}-1  |"])
@pytest.mark.parametrize("other", ["unet", "bert-large"])
def test_a_file_of_a_collector_may_hold_two_jobs(label: str, other: str, make_run: MakeRun) -> None:
    """The labels differ in the words before the task, and the hosts or the times differ."""
    one, two = in_one_file(JOBS[0], label.format("bert")), in_one_file(JOBS[1], label.format(other))
    assert len(jobs_of(make_run({"all.log": one + two}))) == 2
    assert one_job(make_run({"all.log": one}))


def test_a_job_that_came_back_into_the_same_file_is_one(make_run: MakeRun) -> None:
    """The labels are those of the same pods."""
    one, two = (in_one_file(job, "[pod/bert-{}/tensorflow]") for job in JOBS[:2])
    assert one_job(make_run({"all.log": one + two}))
