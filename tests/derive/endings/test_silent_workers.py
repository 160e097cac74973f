"""Workers of a script that reports on its first worker alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, cluster_of, derived, error, raised, says, server_started, step, steps

CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}
JOINED = says("has connected", facts={"agent_connected": ""}, level="I", kind="cpp")
LEADER = [
    server_started(),
    says("connected", facts={"connected": "worker:1"}, level="I", kind="cpp"),
    *steps(1, 2),
]
SILENT = [server_started(), JOINED]
DONE = says("training finished")
LEADER_LEFT = error(
    "Coordination agent is set to ERROR: UNAVAILABLE: failed to connect to all addresses\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:0 while calling "
    "/tensorflow.CoordinationService/Heartbeat:"
)


@pytest.mark.parametrize(
    ("leader", "other", "ended"),
    [
        ([*LEADER, DONE], SILENT, "finished"),
        ([*LEADER, DONE], [*SILENT, LEADER_LEFT], "finished"),
        (LEADER, SILENT, "unknown"),
        ([*LEADER, DONE], [*SILENT, step(1)], "unknown"),
        ([*LEADER, DONE], [*SILENT, raised("KeyError: 'x'")], "exception"),
        ([*LEADER, DONE], [*SILENT, says("disk is slow", level="E", kind="python")], "unknown"),
        ([*LEADER, DONE], [server_started()], "finished"),
        ([*LEADER, DONE], [says("importing")], "unknown"),
    ],
)
def test_a_silent_worker_finished_with_the_one_that_reports(
    leader: Sequence[Line], other: Sequence[Line], ended: str
) -> None:
    """A step needs all workers; one that logs steps of its own, or trouble, speaks for itself."""
    tables = derived({"worker-0.log": leader, "worker-1.log": other}, cluster_spec=CLUSTER)
    rows = tables["lifetimes"].select("worker", "ended").rows()
    assert dict(rows)["worker:1"] == ended


def test_workers_beside_parameter_servers_do_not_wait_for_one_another() -> None:
    """Each trains on its own, and one of them may be lost without a word."""
    logs = {"worker-0.log": [*LEADER, DONE], "worker-1.log": SILENT, "ps-0.log": [server_started()]}
    rows = derived(logs, cluster_spec=CLUSTER)["lifetimes"].select("worker", "ended").rows()
    assert dict(rows)["worker:1"] == "unknown"
