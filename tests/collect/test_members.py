"""Which pods a job has by its description and by TF_CONFIG, and which events are of its pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from analyzer.collect.members import Member, members, pods_of_events

TFJOB = {"tfReplicaSpecs": {"Chief": {"replicas": 1}, "Worker": {"replicas": 2}, "PS": {}}}
INDEXED = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
JOBSET = {"replicatedJobs": [{"name": "node", "replicas": 2, "template": {"spec": {"completions": 1}}}]}
STATEFULSET = {"serviceName": "bert", "replicas": 2, "ordinals": {"start": 1}}


@pytest.mark.parametrize(
    ("spec", "stems"),
    [
        (TFJOB, ["bert-chief-0", "bert-worker-0", "bert-worker-1", "bert-ps-0"]),
        ({"mpiReplicaSpecs": {"Launcher": {}, "Worker": {"replicas": 1}}}, ["bert-worker-0"]),
        (INDEXED, ["bert-0", "bert-1"]),
        (JOBSET, ["bert-node-0-0", "bert-node-1-0"]),
        (STATEFULSET, ["bert-1", "bert-2"]),
        ({**INDEXED, "completions": 9}, []),
        ({"completions": 2, "parallelism": 2}, []),
        ({"replicas": 2, "selector": {}}, []),
    ],
    ids=["tfjob", "mpijob", "indexed", "jobset", "statefulset", "queue", "not-indexed", "deployment"],
)
def test_the_description_of_a_job_tells_its_pods(spec: Mapping[str, Any], stems: list[str]) -> None:
    """Not those of a Job that works through a list, and not pods with a random name only."""
    assert [each.stem for each in members({"metadata": {"name": "bert"}, "spec": spec}, {})] == stems


def config(index: int, *hosts: str) -> str:
    """Return a TF_CONFIG whose cluster has these hosts."""
    cluster = {"worker": [f"{host}:2222" for host in hosts]}
    return json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})


@pytest.mark.parametrize(
    ("tf_configs", "found"),
    [
        ({"b-0": config(0, "b-0.ml.svc", "b-1.ml.svc")}, [Member("b-0"), Member("b-1")]),
        ({"b-0-x7k2p": config(0, "b-0.b", "b-1.b")}, [Member("b-0", suffixed=True), Member("b-1", suffixed=True)]),
        ({"b-0": config(0, "svc-0", "svc-1")}, []),
        ({"b-0": config(0, "10.0.0.1", "10.0.0.2")}, []),
        ({"b-0": "{"}, []),
    ],
)  # fmt: skip
def test_addresses_tell_the_pods_where_each_names_its_own(
    tf_configs: Mapping[str, str], found: list[Member]
) -> None:
    """A service of another name, or an address, tells nothing of a pod's name."""
    assert members(None, tf_configs) == found


def event(name: str, message: str = "Stopping container") -> dict[str, Any]:
    """Return an event of an object of that name."""
    return {"involvedObject": {"name": name}, "message": message}


def test_events_of_pods_that_are_gone_are_the_jobs() -> None:
    """By their names, or because the job created them; not those that another one created, or of other jobs."""
    events = [
        event("bert-1-x7k2p"),
        event("bert-0-77777"),
        event("bert-0", "Created pod: bert-0-77777"),
        event("bert-10-x7k2p"),
        event("bert-eval-x7k2p"),
        event("bert", "Created pod: bert-launcher"),
        event("bert-launcher"),
        {"message": "an event of nothing"},
    ]
    expected = [Member("bert-0", suffixed=True), Member("bert-1", suffixed=True)]
    assert pods_of_events(events, {"bert"}, expected) == {"bert", "bert-1-x7k2p", "bert-launcher"}
