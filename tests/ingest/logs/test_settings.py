"""A variable of the environment that a log lists is no message, whatever its value says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ('SM_HPS={"retry_on": "NCCL unhandled system error"}', 0),
        ("export RETRY_ON='unhandled system error'", 0),
        ("MESSAGE=unhandled system error", 1),
        ("NCCL WARN: unhandled system error, JOB_ID=4", 1),
    ],
    ids=["a listing", "a shell", "a field of a logger", "a message with a variable"],
)
def test_the_value_of_a_variable_is_no_message(line: str, count: int, tables_of: TablesOf) -> None:
    """A field of a logger is one, and so is a message that names a variable."""
    found = tables_of({"worker-0.log": f"step 1 loss 0.5\n{line}\n"})["matches"]
    assert found.filter(pattern="nccl-system-error/reported").height == count


def test_the_cluster_in_a_variable_is_read(tables_of: TablesOf) -> None:
    """It is a fact."""
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    facts = tables_of({"worker-1.log": f"TF_CONFIG={config}\nstep 1 loss 0.5\n"})["facts"]
    assert (facts["key"] == "cluster_spec").any()


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("hosts=['a:1234', 'b:1234'] index=1", True),
        ('workers: ["a:1234", "b:1234"], rank=0', True),
        ("hosts=['a:1234', 'b:1234']", False),
        ("lost hosts=['a:1234'] index=1", False),
        ("peers=['a:1234', 'b:1234'] index=1", False),
    ],
)
def test_a_list_of_hosts_beside_the_own_index_is_the_cluster(
    line: str, read: bool, tables_of: TablesOf
) -> None:
    """Scripts print both as they read them; a list alone may be a part of the cluster."""
    facts = tables_of({"worker-1.log": f"{line}\nstep 1 loss 0.5\n"})["facts"]
    assert facts.filter(key="cluster_spec")["value"].to_list() == ['{"worker": ["a:1234", "b:1234"]}'] * read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("replicas: 4", ["4"]),
        ("{'replicas': 4}", ["4"]),
        ("'_num_ps_replicas': 1, '_num_worker_replicas': 2, '_is_chief': True", []),
        ("worker replicas: 3", []),
    ],
)
def test_the_tasks_of_a_role_are_no_replicas_in_sync(line: str, read: list[str], tables_of: TablesOf) -> None:
    """RunConfig of an Estimator, and pod templates, count the tasks of each role."""
    facts = tables_of({"worker-0.log": f"{line}\nstep 1 loss 0.5\n"})["facts"]
    assert facts.filter(key="replicas")["value"].to_list() == read
