"""The members of the cluster, and what they state about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.model import Tables
from analyzer.naming import device_of, is_task, tasks_in

TablesOf = Callable[[Mapping[str, str]], Tables]


def told(*addresses: str, index: int) -> str:
    """A TF_CONFIG."""
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})


def compared(tables: Tables, key: str) -> list[tuple[str, bool]]:
    """Value and equality of one key for each worker."""
    rows = tables["cluster"].filter(tables["cluster"]["key"] == key)
    return list(rows.select("value", "equal").iter_rows())


LOCAL = ("localhost", "127.0.0.1", "127.0.1.1", "0.0.0.0", "[::1]", "[::]")


@pytest.mark.parametrize("own", LOCAL)
def test_a_worker_may_write_its_own_host_in_any_way_that_means_itself(own: str, tables_of: TablesOf) -> None:
    """The clusters are equal, and such a name is no host."""
    files = {
        "tf_config-0.json": told(f"{own}:1", "b:2", index=0),
        "tf_config-1.json": told("a:1", "b:2", index=1),
        "worker-0.log": "hello\n",
        "worker-1.log": "hello\n",
    }
    assert {equal for _, equal in compared(tables_of(files), "cluster_spec")} == {True}
    alone = tables_of(files | {"tf_config-1.json": told(f"{own}:1", "b:2", index=1)})
    assert alone["workers"]["host"].to_list() == [None, "b"]


@pytest.mark.parametrize("own", LOCAL)
def test_a_cluster_of_such_names_alone_is_told(own: str, tables_of: TablesOf) -> None:
    """No worker finds another one by it."""
    files = {"tf_config-0.json": told(f"{own}:1", f"{own}:2", index=0), "worker-0.log": "hello\n"}
    assert compared(tables_of(files), "loopback") == [("yes", True)]


def test_a_task_is_spelled_in_two_ways() -> None:
    """And `localhost`, which TensorFlow names without a cluster, is none."""
    assert tasks_in(f"lost {device_of('ps:12')}, then /job:worker/task:3") == ["ps:12", "worker:3"]
    assert [is_task(text) for text in ("chief:0", "worker:12", "localhost:0", "worker", "worker:x")] == [
        True, True, False, False, False,
    ]  # fmt: skip
