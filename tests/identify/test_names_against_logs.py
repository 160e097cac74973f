"""Logs that state another task than their file names do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]

CLUSTER = {"worker": ["a:2222", "b:2222"]}


def log_of(index: int, cluster: Mapping[str, list[str]] = CLUSTER, role: str = "worker") -> str:
    """The log of a task, with its cluster and its server."""
    return (
        f"INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {dict(cluster)}, "
        f"task_type = '{role}', task_id = {index}, num_workers = 2\n"
        f"I0000 00:00:1795224703.563885 6 x.cc:1] Started server with target: grpc://{cluster[role][index]}\n"
        "step 1 loss 0.5\n"
    )


def workers_of(run: Path) -> dict[str, str | None]:
    """Source → the worker that it is given to."""
    return dict(load_tables(discover([run]), our_rules())["sources"].select("source", "worker").iter_rows())


@pytest.mark.parametrize("first", ["chief.log", "master.out", "chief/stdout.txt"])
@pytest.mark.parametrize("second", ["worker.log", "worker-1.log"])
def test_a_chief_that_no_cluster_lists_is_the_worker_that_it_says_it_is(
    first: str, second: str, make_run: MakeRun
) -> None:
    """Also in files that only name it."""
    run = make_run({first: log_of(0), second: log_of(1), "exit_codes.txt": "chief 1\nworker-1 -9\n"})
    assert workers_of(run) | {first: "worker:0", second: "worker:1"} == workers_of(run)
    facts = load_tables(discover([run]), our_rules())["facts"].filter(pl.col("key") == "exit_code")
    assert {*facts.select("worker", "value").iter_rows()} == {("worker:0", "1"), ("worker:1", "-9")}


def test_a_chief_that_a_cluster_lists_keeps_its_name(make_run: MakeRun) -> None:
    """What it says is then the fault of its TF_CONFIG."""
    cluster = {"chief": ["c:2222"], **CLUSTER}
    run = make_run({"chief.log": log_of(0, cluster), "worker-1.log": log_of(1, cluster)})
    assert workers_of(run) == {"chief.log": "chief:0", "worker-1.log": "worker:1"}


def test_a_chief_with_the_task_of_another_log_keeps_its_name(make_run: MakeRun) -> None:
    """Two logs of one task are a fault that a rule finds."""
    run = make_run({"chief.log": log_of(0), "worker-0.log": log_of(0), "worker-1.log": log_of(1)})
    assert workers_of(run)["chief.log"] == "chief:0"


def test_a_chief_of_an_unknown_cluster_keeps_its_name(make_run: MakeRun) -> None:
    """Nothing shows which roles the job has."""
    said = "TensorFlow 2.9.3 task {'type': 'worker', 'index': 0}\nstep 1 loss 0.5\n"
    assert workers_of(make_run({"chief.log": said}))["chief.log"] == "chief:0"


def test_an_evaluator_is_in_no_cluster(make_run: MakeRun) -> None:
    """Its log may quote the task of the worker that it was started beside."""
    run = make_run({"evaluator-0.log": log_of(1), "worker-0.log": log_of(0)})
    assert workers_of(run)["evaluator-0.log"] == "evaluator:0"


def test_logs_with_each_others_names_are_of_the_tasks_that_they_state(make_run: MakeRun) -> None:
    """Their servers show it, too; a TF_CONFIG that states the task in its name stays where it is."""
    config = json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 0}})
    run = make_run({"worker-0.log": log_of(1), "worker-1.log": log_of(0), "tf_config-0.json": config})
    assert workers_of(run) == {
        "worker-0.log": "worker:1", "worker-1.log": "worker:0", "tf_config-0.json": "worker:0",
    }  # fmt: skip


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"exit_codes.txt": "worker-0 1\nworker-1 -9\n"}, id="exit codes"),
        pytest.param({"worker-0.log": log_of(0)}, id="one task stated twice"),
        pytest.param({"worker-1.log": "step 1 loss 0.5\n"}, id="only one states a task"),
        pytest.param({"worker-1.log": log_of(0, {"worker": ["b:2222", "a:2222"]})}, id="another order"),
    ],
)
def test_logs_keep_names_that_other_files_may_go_by(others: Mapping[str, str], make_run: MakeRun) -> None:
    """The names may be those of pods, and the fault that of the job."""
    found = workers_of(make_run({"worker-0.log": log_of(1), "worker-1.log": log_of(0), **others}))
    assert (found["worker-0.log"], found["worker-1.log"]) == ("worker:0", "worker:1")


def test_exchanged_names_that_stay_are_doubted(make_run: MakeRun) -> None:
    """Which of the two the exit codes mean is unknown."""
    codes = "worker-0 1\nworker-1 -9\n"
    run = make_run({"worker-0.log": log_of(1), "worker-1.log": log_of(0), "exit_codes.txt": codes})
    assert load_tables(discover([run]), our_rules())["workers"]["doubted"].to_list() == ["name", "name"]
