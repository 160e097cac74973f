"""How far a worker came and how it ended, from whatever was kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]

RAISED = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 4, in <module>\n    go()\n{}\n'
)
LOST = RAISED.format(
    "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed"
)
STEPS = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def life(tables: Tables, worker: str) -> dict[str, Any]:
    """The row of one worker."""
    (row,) = [row for row in tables["lifetimes"].iter_rows(named=True) if row["worker"] == worker]
    return row


@pytest.mark.parametrize(
    ("log", "code", "ended"),
    [
        (STEPS + "training finished\n", None, "finished"),
        (STEPS + "training finished\nterminate called without an active exception\n", "-6", "finished"),
        ("Epoch 1/1\n20/20 - 1s - loss: 0.5\n", None, "finished"),
        (STEPS + RAISED.format("KeyError: 'x'"), None, "exception"),
        (STEPS + LOST, "1", "aborted_by_peer"),
        (STEPS, "-9", "signal"),
        (STEPS, "137", "signal"),
        (STEPS, "3", "exited"),
        (STEPS, "None", "running"),
        (STEPS, None, "unknown"),
    ],
)
def test_the_end_of_a_worker(log: str, code: str | None, ended: str, tables_of: TablesOf) -> None:
    """What is written down decides: closing line, traceback, exit code."""
    files = {"worker-0.log": log} | ({"exit_codes.txt": f"worker-0 {code}\n"} if code else {})
    assert life(tables_of(files), "worker:0")["ended"] == ended


def test_a_log_that_just_ends_is_vanished_only_where_a_peer_fell(tables_of: TablesOf) -> None:
    """And that is inferred, not written down."""
    found = life(tables_of({"worker-0.log": STEPS + LOST, "worker-1.log": STEPS}), "worker:1")
    assert (found["ended"], found["sure"]) == ("vanished", False)


def test_a_task_of_the_cluster_without_a_source_never_started(tables_of: TablesOf) -> None:
    """TF_CONFIG of another worker lists it."""
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
    found = life(tables_of({"tf_config-0.json": config, "worker-0.log": "hello\n"}), "worker:1")
    assert (found["ended"], found["phase"]) == ("never_started", "absent")


def test_the_one_behind_all_others_is_marked(tables_of: TablesOf) -> None:
    """By epoch and step, not by time."""
    tables = tables_of({"worker-0.log": STEPS, "worker-1.log": "step 1 loss 0.5\n", "worker-2.log": STEPS})
    assert [life(tables, f"worker:{index}")["behind_all"] for index in range(3)] == [False, True, False]
    assert life(tables, "worker:1")["behind"] == 1


def test_a_second_life_in_the_same_log_is_told_apart(tables_of: TablesOf) -> None:
    """One process starts one server."""
    server = "2026-11-21 01:53:0{}.0: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:438] Started server with target: grpc://a:1\n"
    found = life(tables_of({"worker-0.log": server.format(1) + STEPS + server.format(9)}), "worker:0")
    assert (found["attempts"], found["restarted"], found["phase"]) == (2, True, "server_up")


def test_all_that_stop_together_in_good_order_have_finished_and_one_alone_has_not(
    tables_of: TablesOf,
) -> None:
    """Early stopping on every worker is a plan; on one worker it is a fault."""
    early, later = (
        "Epoch 1/3\n20/20 - 1s - loss: 0.5\n",
        "Epoch 1/3\n20/20 - 1s - loss: 0.5\nEpoch 2/3\n5/20 - 1s - loss: 0.4\n",
    )
    codes = {"exit_codes.txt": "worker-0 0\nworker-1 0\n"}
    together = tables_of({"worker-0.log": early, "worker-1.log": early} | codes)
    assert {life(together, f"worker:{index}")["ended"] for index in range(2)} == {"finished"}
    alone = tables_of({"worker-0.log": early, "worker-1.log": later} | codes)
    assert life(alone, "worker:0")["ended"] == "exited"


FIT = "Epoch 1/3\n20/20 - 1s - loss: 0.5\nEpoch 2/3\n{}/20 - 1s - loss: 0.4\n"


@pytest.mark.parametrize(
    ("logs", "behind_all"),
    [
        ([FIT.format(10), FIT.format(10), "step 30 loss 0.5\n"], [False, False, False]),
        ([FIT.format(10), FIT.format(10), "step 29 loss 0.5\n"], [False, False, True]),
        ([FIT.format(10), FIT.format(11), FIT.format(12)], [True, False, False]),
        ([FIT.format(10), FIT.format(11), "epoch 1 step 30 loss 0.5\n"], [None, None, None]),
        (["step 31 loss 0.5\n", "step 30 loss 0.5\n", "epoch 3 loss 0.5\n"], [None, None, None]),
    ],
)
def test_places_of_different_units_are_not_compared(
    logs: list[str], behind_all: list[bool | None], tables_of: TablesOf
) -> None:
    """`fit` counts within the epoch; how many steps an epoch has turns that into steps since the start."""
    tables = tables_of({f"worker-{index}.log": log for index, log in enumerate(logs)})
    assert tables["lifetimes"]["behind_all"].to_list() == behind_all


CLUSTER = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
ACCEPTED = (
    "I0000 00:00:1795225734.036583   14306 coordination_service.h:529] /job:worker/replica:0/task:{} has connected to"
    " coordination service. Incarnation: 7\n"
)


@pytest.mark.parametrize(
    ("files", "seen", "started", "ended"),
    [
        ({"worker-1.log": STEPS}, True, True, "unknown"),
        ({"exit_codes.txt": "worker-1 -9\n"}, False, True, "signal"),
        ({"exit_codes.txt": "worker-1 None\n"}, False, True, "running"),
        ({"worker-0.log": ACCEPTED.format(1)}, False, True, "unknown"),
        ({"worker-0.log": "Number of replicas in sync: 2\n" + STEPS}, False, True, "unknown"),
        ({"worker-0.log": ACCEPTED.format(0)}, False, None, "never_started"),
        ({"worker-0.log": "Number of replicas in sync: 1\n" + STEPS}, False, None, "never_started"),
        ({"worker-0.log": STEPS}, False, None, "never_started"),
    ],
)
def test_a_worker_without_a_file_may_have_run_all_the_same(
    files: dict[str, str], seen: bool, started: bool | None, ended: str, tables_of: TablesOf
) -> None:
    """Its exit code says so, or a peer that could make no step without it; its log was only not handed over."""
    tables = tables_of({"tf_config-0.json": CLUSTER, "worker-0.log": "hello\n"} | files)
    found = life(tables, "worker:1")
    assert (found["seen"], found["started"], found["ended"]) == (seen, started, ended)
    assert tables["job"]["unseen"].to_list() == [0 if seen else 1]
