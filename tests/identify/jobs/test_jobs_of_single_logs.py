"""Single logs of several jobs are told apart by names and clusters, though none of the jobs is whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.identify.jobs.sample_jobs import jobs_of
from tests.rules import our_rules

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]


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


def of_a_job(hosts: list[str], names: list[str], clock: int) -> dict[str, str]:
    """The logs of all workers of a job; their names state no task."""
    spec = ", ".join(f"{index} -> {host}:2222" for index, host in enumerate(hosts))
    return {
        name: f"2026-11-21 01:{clock}:36.4: I grpc_channel.cc:272] Initialize GrpcChannelCache for job worker "
        f"-> {{{spec}}}\nTensorFlow 2.9.3 task {{'type': 'worker', 'index': {index}}}\n"
        f"2026-11-21 01:{clock}:36.5: I grpc_server_lib.cc:438] Started server with target: "
        f"grpc://{hosts[index]}:2222\nstep 1 loss 0.5\n"
        for index, name in enumerate(names)
    }


FIRST = of_a_job(["a", "b"], ["log0.txt", "log1.txt"], 10)
SECOND = ["log2.txt", "log3.txt"]


def test_clusters_tell_jobs_apart_whose_names_tell_nothing(make_run: MakeRun) -> None:
    """Each has a log of every task, and no address of the other."""
    found = jobs_of(make_run(FIRST | of_a_job(["c", "d"], SECOND, 40)))
    assert found == ["(log0.txt, log1.txt)", "(log2.txt, log3.txt)"]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(of_a_job(["b", "c"], SECOND, 40), id="a common address"),
        pytest.param(of_a_job(["c", "d"], SECOND[:1], 40), id="a log is missing"),
        pytest.param(of_a_job(["c", "d"], ["log0.previous.txt", "log1.previous.txt"], 40), id="before"),
        pytest.param(of_a_job(["c", "d"], ["log0-attempt-2.txt", "log1-attempt-2.txt"], 40), id="attempts"),
    ],
)
def test_clusters_alone_make_no_other_job(others: Mapping[str, str], make_run: MakeRun) -> None:
    """A job that came back on other hosts has other addresses, and so has a spec that is wrong."""
    assert jobs_of(make_run({**FIRST, **others})) == []


def test_a_single_log_of_another_cluster_leaves_a_doubt(make_run: MakeRun) -> None:
    """The verdict is capped, and a note names both logs."""
    run = make_run(FIRST | of_a_job(["c", "d"], SECOND[:1], 40))
    (found,) = (
        row for row in load_tables(discover([run]), our_rules())["workers"].to_dicts() if row["doubt"]
    )
    assert (found["worker"], found["doubted"]) == ("worker:0", "several")
    assert "log0.txt and log2.txt may be two jobs" in found["doubt"]
