"""Single logs of several jobs are told apart by names and clusters, though none of the jobs is whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.discover import discover
from analyzer.identify.jobs import several_jobs
from analyzer.ingest import ingest
from tests.rules import our_rules

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]


def jobs_of(run: Path) -> list[str]:
    """The jobs found in a directory."""
    pack = our_rules()
    return several_jobs(ingest(discover([run]), pack.patterns, pack.messages), pack.messages)


def of_a_worker(job: str, index: int, name: str = "{job}-worker-{index}.log") -> dict[str, str]:
    """The log of one worker of a job, with its cluster."""
    hosts = [f"{job}-{each}:2222" for each in range(2)]
    text = f"INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {{'worker': {hosts}}}, "
    text += f"task_type = 'worker', task_id = {index}, num_workers = 2\nstep 1 loss 0.5\n"
    return {name.format(job=job, index=index): text}


def test_one_log_of_each_job_is_enough_if_names_and_clusters_differ(make_run: MakeRun) -> None:
    """As arguments or in a directory."""
    run = make_run(of_a_worker("bert", 0) | of_a_worker("unet", 1))
    assert jobs_of(run) == ["the files like bert-worker-0.log", "the files like unet-worker-1.log"]
    assert main([*map(str, sorted(run.iterdir())), "-o", "-"]) == 2


@pytest.mark.parametrize(
    "form", ["worker-{index}.log", "job-worker-{index}-{job}.log", "attempt-{index}-worker-{index}.log"]
)
def test_other_addresses_alone_make_no_other_job(form: str, make_run: MakeRun) -> None:
    """Where the words before the task are equal, the pods may have come back elsewhere."""
    assert jobs_of(make_run(of_a_worker("bert", 0, form) | of_a_worker("unet", 1, form))) == []


def test_other_names_alone_make_no_other_job(make_run: MakeRun) -> None:
    """Where the cluster is the same."""
    other = {"unet-worker-1.log": next(iter(of_a_worker("bert", 1).values()))}
    assert jobs_of(make_run(of_a_worker("bert", 0) | other)) == []
