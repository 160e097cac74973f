"""The members of the cluster, and what they state about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables
from analyzer.model.task_names import device_of, is_task, tasks_in
from tests.derive.logs import cluster_of, derived, says

TablesOf = Callable[[Mapping[str, str]], Tables]


def compared(tables: Tables, key: str) -> list[tuple[str, bool]]:
    """Value and equality of one key for each worker."""
    rows = tables["cluster"].filter(tables["cluster"]["key"] == key)
    return list(rows.select("value", "equal").iter_rows())


LOCAL = ("localhost", "127.0.0.1", "127.0.1.1", "0.0.0.0", "[::1]", "[::]")


@pytest.mark.parametrize("own", LOCAL)
def test_a_worker_may_write_its_own_host_in_any_way_that_means_itself(own: str) -> None:
    """The clusters are equal, and such a name is no host."""
    logs = {"worker-0.log": [says("hello")], "worker-1.log": [says("hello")]}
    tasks = {"worker:0": "worker:0", "worker:1": "worker:1"}
    first = {"worker:0": cluster_of(f"{own}:1", "b:2")}
    specs = first | {"worker:1": cluster_of("a:1", "b:2")}
    assert {
        equal for _, equal in compared(derived(logs, cluster_spec=specs, task=tasks), "cluster_spec")
    } == {True}
    specs = first | {"worker:1": cluster_of(f"{own}:1", "b:2")}
    alone = derived(logs, cluster_spec=specs, task=tasks)
    assert alone["workers"]["host"].to_list() == [None, "b"]


@pytest.mark.parametrize("own", LOCAL)
def test_a_cluster_of_such_names_alone_is_told(own: str) -> None:
    """No worker finds another one by it."""
    specs = {"worker:0": cluster_of(f"{own}:1", f"{own}:2")}
    cluster = derived({"worker-0.log": [says("hello")]}, cluster_spec=specs)["cluster"]
    assert cluster.filter(cluster["key"] == "loopback")["holds"].to_list() == [True]


@pytest.mark.parametrize(
    ("address", "cluster", "listed"),
    [
        ("127.0.0.1:43191", cluster_of("bert-0.svc:2222", "bert-1.svc:2222"), [False]),
        ("10.0.0.7:2222", cluster_of("bert-0.svc:2222", "bert-1.svc:2222"), [True]),
        ("10.0.0.7:2222", json.dumps({"ps": ["a:5000"]}), []),
        ("10.0.0.7:2222", json.dumps({"worker": {"0": "a:5000"}}), [False]),
    ],
)
def test_a_server_outside_its_stated_cluster_is_told(address: str, cluster: str, listed: list[bool]) -> None:
    """By its port, since a host has many names; a part of the cluster without its role tells nothing."""
    stated = {"cluster_spec": {"worker:0": cluster}, "server_address": {"worker:0": address}}
    found = derived({"worker-0.log": [says("hello")]}, **stated)["cluster"]
    assert found.filter(found["key"] == "server_listed")["holds"].to_list() == listed


def test_a_task_is_spelled_in_two_ways() -> None:
    """And `localhost`, which TensorFlow names without a cluster, is none."""
    assert tasks_in(f"lost {device_of('ps:12')}, then /job:worker/task:3") == ["ps:12", "worker:3"]
    assert [is_task(text) for text in ("chief:0", "worker:12", "localhost:0", "worker", "worker:x")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def batches(*sizes: int) -> str:
    """A log that tells of every batch."""
    return "".join(f"step {step}: batch of {size} ready\n" for step, size in enumerate(sizes, start=1))


@pytest.mark.parametrize(
    ("logs", "sizes"),
    [
        (["batch size: 64\n", "train.py --batch-size 32 --epochs 3\n"], ["64", "32"]),
        (["batch size of 64\n", "per-replica batch size 32\n"], ["64", "32"]),
        (["per-worker batch: 64\n", "replicas: 2, per_replica_batch=32\n"], ["64", "32"]),
        (["global batch: 64\n", "batch: 32\n"], []),
        (["global batch size: 128\n", "global_batch_size=64\n"], ["128", "64"]),
        (["global batch size: 128\nbatch size: 64\n", "batch size: 64\n"], ["64", "64"]),
        (["batch size: 64\neval batch size: 100\n", "batch size: 64\nmax_batch_size=5\n"], ["64", "64"]),
        ([batches(64, 64, 64, 64), batches(32, 32, 32, 32)], ["64", "32"]),
        ([batches(64, 64, 64, 64, 17), batches(64, 64, 64, 3)], ["64", "64"]),
        ([batches(64, 17, 64, 17, 64, 17), batches(64, 64, 64)], ["64", "64"]),
        ([batches(64, 17), batches(51, 12, 40, 33)], []),
        (["a batch of 20 records was sent\n" * 5, "global batch 7\n" * 5], []),
    ],
)  # fmt: skip
def test_batch_sizes_are_read_in_ordinary_words(
    logs: list[str], sizes: list[str], tables_of: TablesOf
) -> None:
    """A smaller last batch is no other size, and a global one is not compared with a worker's own."""
    tables = tables_of({f"worker-{index}.log": log for index, log in enumerate(logs)})
    assert [value for value, _ in compared(tables, "batch_size")] == sizes


def test_a_compared_value_has_the_line_that_states_it(tables_of: TablesOf) -> None:
    """Also where the compared value follows from a fact of another name."""
    logs = {f"worker-{n}.log": f"start\nTensorFlow {v}\n" for n, v in enumerate(("2.8.4", "2.15.1"))}
    rows = tables_of(logs)["cluster"].select("key", "source", "line", "excerpt").rows()
    for key in ("tensorflow", "tensorflow_release", "start_up"):
        assert (key, "worker-0.log", 2, "TensorFlow 2.8.4") in rows
        assert (key, "worker-1.log", 2, "TensorFlow 2.15.1") in rows
