"""A log is not of a task that it names as lost or awaited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.identify.test_workers import LINE, LOST, workers_of

pytestmark = pytest.mark.runs


@pytest.mark.parametrize(("lost", "worker"), [(0, "worker:1"), (1, "worker:0")])
def test_a_log_is_not_of_the_task_that_it_lost(
    make_run: Callable[[Mapping[str, str]], Path], lost: int, worker: str
) -> None:
    """The guess takes the lowest index that its lines do not name as remote."""
    assert workers_of(make_run({"train.log": LINE + LOST.format(lost)})) == {"train.log": worker}


@pytest.mark.parametrize(("cluster", "worker"), [("", "ps:0"), ('{"worker": ["a:1", "b:1"]}', "worker:1")])
def test_a_log_named_after_a_role_is_of_that_role(
    make_run: Callable[[Mapping[str, str]], Path], cluster: str, worker: str
) -> None:
    """Its index is a guess; `ps.log` may also hold a list of processes, where the job has no such role."""
    own = f'TF_CONFIG={{"cluster": {cluster}, "task": {{"type": "worker", "index": 0}}}}\n' if cluster else ""
    logs = {"chief.log" if not cluster else "worker-0.log": own + LINE, "ps.log": LINE}
    assert workers_of(make_run(logs))["ps.log"] == worker


@pytest.mark.parametrize(
    ("own", "worker"), [("chief", "evaluator:0"), ("worker", "worker:1")], ids=["with a chief", "without"]
)
def test_a_log_named_after_the_evaluation_is_the_evaluator_s(
    own: str, worker: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """No cluster lists it; a job of workers alone has none."""
    spec = f'{{"cluster": {{"{own}": ["a:1", "b:1"]}}, "task": {{"type": "{own}", "index": 0}}}}'
    logs = {"job-a.log": f"TF_CONFIG={spec}\n{LINE}", "job-eval.log": LINE}
    assert workers_of(make_run(logs))["job-eval.log"] == worker


@pytest.mark.parametrize("name", ["train_eval", "train-and-eval", "model-eval", "eval-gpu-a", "lists-of-ps"])
def test_what_a_script_does_is_no_role(name: str, make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Nothing else shows that the job has one."""
    assert workers_of(make_run({f"{name}.log": LINE})) == {f"{name}.log": "worker:0"}


def test_the_silent_log_is_of_the_task_that_all_others_lost(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Whatever the order of the files; the log in which the cluster assembled is the leader's."""
    leads = "I0000 00:00:1795225733.920389 6 coordination_service.cc:221] Initializing CoordinationService\n"
    lost = LINE + LOST.format(2)
    logs = {"gpu03.log": LINE, "gpu07.log": lost, "gpu11.log": leads + lost, "gpu19.log": lost}
    assert workers_of(make_run(logs)) == {
        "gpu03.log": "worker:2",
        "gpu07.log": "worker:1",
        "gpu11.log": "worker:0",
        "gpu19.log": "worker:3",
    }


def test_a_task_that_all_logs_lost_is_none_of_theirs(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Its own log is missing."""
    logs = {f"{name}.log": LINE + LOST.format(1) for name in ("alpha", "beta", "gamma")}
    assert set(workers_of(make_run(logs)).values()) == {"worker:0", "worker:2", "worker:3"}


def test_a_log_is_not_of_the_task_that_it_waits_for(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Unless it is the leader's, which waits for itself too until it has connected."""
    waits = (
        "2026-11-21 03:10:02.204177: I tensorflow/core/distributed_runtime/master.cc:221] CreateSession still "
        "waiting for response from worker: /job:worker/replica:0/task:0\n"
    )
    leads = "I0000 00:00:1795225733.920389 6 coordination_service.cc:221] Initializing CoordinationService\n"
    assert workers_of(make_run({"train.log": waits})) == {"train.log": "worker:1"}
    assert workers_of(make_run({"train.log": leads + waits})) == {"train.log": "worker:0"}


def test_a_leader_calls_its_own_coordination_service(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """A call to it names no peer in the leader's own log, but in that of another."""
    leads = "I0000 00:00:1795225733.920389 6 coordination_service.cc:221] Initializing CoordinationService\n"
    calls = (
        "Additional GRPC error information from remote target /job:worker/replica:0/task:0 while calling "
        "/tensorflow.CoordinationService/WaitForAllTasks:\n"
    )
    assert workers_of(make_run({"train.log": leads + LINE + calls})) == {"train.log": "worker:0"}
    assert workers_of(make_run({"train.log": LINE + calls})) == {"train.log": "worker:1"}


CALLED = "Additional GRPC error information from remote target /job:worker/replica:0/task:{} while calling /tensorflow.WorkerService/RecvBuf:\n:UNKNOWN:Error received from peer\n"


def passed_on(*tasks: int) -> str:
    """A collective that was aborted, of which the tasks, each called by the next, passed the status on."""
    return (
        f"{LINE}2026-11-21 01:00:00.5: E ring_alg.cc:291] Aborting RingReduce with UNAVAILABLE: Socket closed\n"
        + "".join(map(CALLED.format, tasks))
    )


@pytest.mark.parametrize(
    ("chains", "found"),
    [
        ({"a": (2, 3, 0), "b": (), "c": (2,), "d": (2, 3)}, {"a": 1, "b": 2, "c": 3, "d": 0}),
        ({"a": (2, 1, 0), "b": (), "c": (2,), "d": (2, 3)}, None),
        ({"a": (0,), "b": (), "c": (2,), "d": (3,)}, None),
    ],
    ids=["a ring", "another order", "no status was passed on"],
)
def test_logs_of_a_ring_are_of_the_tasks_after_those_that_they_called(
    chains: Mapping[str, tuple[int, ...]],
    found: Mapping[str, int] | None,
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Where what was passed on shows the order of the ring, and that of the tasks is the same."""
    workers = workers_of(make_run({f"{name}.log": passed_on(*own) for name, own in chains.items()}))
    told = {f"{name}.log": f"worker:{task}" for name, task in (found or {}).items()}
    assert (workers == told) is (found is not None)


def test_a_log_is_not_of_the_task_whose_end_others_passed_on_to_it(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """The status of a peer's own call names the process that is gone; a log that goes on is not of that."""
    leads = "I0000 00:00:1795225733.920389 6 coordination_service.cc:221] Initializing CoordinationService\n"
    passed_on = (
        f'{LOST.format(2).rstrip()} {{grpc_message:"Socket closed", grpc_status:14}}\n'
        "Additional GRPC error information from remote target /job:worker/replica:0/task:0 "
        "while calling /tensorflow.WorkerService/RecvBuf:\n:UNKNOWN:Error received from peer\n"
    )
    logs = {"gpu21.log": LINE, "gpu22.log": leads + LINE + LOST.format(2), "gpu23.log": LINE + passed_on}
    assert workers_of(make_run(logs)) == {
        "gpu21.log": "worker:2",
        "gpu22.log": "worker:0",
        "gpu23.log": "worker:1",
    }


@pytest.mark.parametrize(("seen", "worker"), [("2", "worker:1"), ("1", "worker:2"), ("", "worker:1")])
def test_a_log_that_never_joined_is_not_of_the_task_that_the_leader_met(
    make_run: Callable[[Mapping[str, str]], Path], seen: str, worker: str
) -> None:
    """`a.log` joined, so it is of the task that the leader saw; without that, the order decides."""
    at = "2026-11-26 14:31:11.954561: I tensorflow/core/distributed_runtime/"
    met = (
        at
        + "coordination/coordination_service.cc:553] /job:worker/replica:0/task:{} has connected to coordination service. Incarnation: 7\n"
    )
    joined = (
        at
        + "coordination/coordination_service_agent.cc:304] Coordination agent has successfully connected.\n"
    )
    server = at + "rpc/grpc_server_lib.cc:457] Started server with target: grpc://{}:2222\n"
    logs = {
        "0.leader.txt": server.format("x") + met.format(0) + joined + (met.format(seen) if seen else ""),
        "a.log": server.format("z") + joined,
        "b.log": "Traceback (most recent call last):\n  File \"/w/train.py\", line 4, in <module>\nKeyError: 'x'\n",
        "tf_config.json": '{"cluster": {"worker": ["c:1", "d:1", "e:1"]}}',
    }
    found = workers_of(make_run(logs))
    assert found["b.log"] == worker if seen else found["a.log"] == worker
