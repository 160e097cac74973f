"""Who names whom, in the dialects of TensorFlow's versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import cluster_of, derived, error, raised, says, step

RING = """\
2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce with UNAVAILABLE: {root}
Additional GRPC error information from remote target /job:worker/replica:0/task:2{method}:
{details}"""
DONE = says("training finished")
OLD = ':{"created":"@1795225237.754186118","description":"Error received from peer","grpc_message":"x","grpc_status":14}'
NEW = ':UNKNOWN:Error received from peer  {grpc_status:14, grpc_message:"Socket closed"}'


def named(tables: Tables) -> set[tuple[str, str, str]]:
    """Accuser, accused and kind of every accusation that counts."""
    rows = tables["accusations"].filter("counts")
    return set(rows.select("accuser", "worker", "kind").iter_rows())


@pytest.mark.parametrize(
    ("root", "method", "details"),
    [
        ("Connection reset by peer", "", OLD),
        ("Socket closed", " while calling /tensorflow.WorkerService/RecvBuf", OLD),
        ("recvmsg:Connection reset by peer", " while calling /tensorflow.WorkerService/RecvBuf", NEW),
        ("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host:"
         " Connection refused", " while calling /tensorflow.WorkerService/CompleteGroup", NEW),
    ],
)  # fmt: skip
def test_a_lost_connection_names_its_remote_target(root: str, method: str, details: str) -> None:
    """In the spelling of 2.4, of 2.14 and of 2.21."""
    tables = derived({"worker-0.log": [error(RING.format(root=root, method=method, details=details))]})
    assert named(tables) == {("worker:0", "worker:2", "transport")}


def test_of_a_status_that_crossed_several_workers_the_innermost_is_meant() -> None:
    """Worker 1 heard of it from worker 3, which had it from worker 2."""
    text = RING.format(root="Collective ops is aborted by: Socket closed", method="", details=OLD) + (
        "\nThe error could be from a previous operation. Restart your program to reset.\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:3:\n" + OLD
    )
    assert named(derived({"worker-1.log": [error(text)]})) == {("worker:1", "worker:2", "transport")}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("2026-11-21 01:40:37.0: E a/coordination_service.cc:992] /job:worker/replica:0/task:2 has been set to ERROR in"
         " coordination service: UNAVAILABLE: Task /job:worker/replica:0/task:2 heartbeat timeout.", "heartbeat"),
        ("E0000 00:00:1795229988.515692    7327 c.cc:1] The following tasks are unhealthy (stopped sending heartbeats):\n"
         "/job:worker/replica:0/task:2\nThe tasks have crashed.", "heartbeat"),
        ("WARNING:tensorflow:/job:worker/replica:0/task:2 seems down, retrying 1/3", "down"),
        ("ERROR:tensorflow:Cluster check alive failed, /job:worker/replica:0/task:2 is down, aborting collectives: x", "down"),
    ],
)  # fmt: skip
def test_a_lost_heartbeat_names_the_silent_task(line: str, kind: str) -> None:
    """The coordination service of 2.9 and later, and the health check before it."""
    assert named(derived({"worker-0.log": [error(line)]})) == {("worker:0", "worker:2", kind)}


def test_a_call_to_the_coordination_service_names_the_leader_because_it_lives_there() -> None:
    """That is another thing than a lost data connection."""
    text = RING.format(root="failed to connect to all addresses", method="", details=OLD).replace(
        "task:2:", "task:0 while calling /tensorflow.CoordinationService/Heartbeat:"
    )
    assert named(derived({"worker-1.log": [error(text)]})) == {("worker:1", "worker:0", "leader")}


@pytest.mark.parametrize(
    ("root", "unanswered"),
    [
        ("Deadline Exceeded", True),
        ("No route to host", True),
        ("Socket closed", False),
        ("failed to connect to all addresses; last error: Connection refused", False),
    ],
)
def test_a_heartbeat_without_an_answer_shows_no_process_that_ended(root: str, unanswered: bool) -> None:
    """The connection to a process that ended is refused, reset or closed."""
    text = RING.format(root=root, method="", details=OLD).replace(
        "task:2:", "task:0 while calling /tensorflow.CoordinationService/Heartbeat:"
    )
    if root.startswith("Deadline"):
        text = text.replace("UNAVAILABLE", "DEADLINE_EXCEEDED").replace('"grpc_status":14', '"grpc_status":4')
    (row,) = derived({"worker-1.log": [error(text)]})["accusations"].to_dicts()
    assert (row["kind"], row["unanswered"]) == ("leader", unanswered)


def test_what_was_reported_before_both_were_started_again_does_not_count() -> None:
    """Another start of the whole job; where the accused alone was restarted, the report still stands."""
    lost = error(RING.format(root="Socket closed", method="", details=OLD))
    first = {"worker-0.log": [step(12), lost], "worker-2.log": [step(12)]}
    again = {"worker-2-attempt-2.log": [step(30)]}
    accused = {("worker:0", "worker:2", "transport")}
    assert named(derived(first | again)) == accused
    assert named(derived({**first, **again, "worker-0-attempt-2.log": [step(30)]})) == set()


def test_a_peer_that_passes_a_status_back_was_reached() -> None:
    """The health check of 2.8: the leader answers that its own operation was aborted, for task 1 is down."""
    root = "Collective ops is aborted by: cluster check alive failed, /job:worker/replica:0/task:1 is down"
    answer = f':{{"description":"Error received from peer ipv4:10.0.0.1:2222","grpc_message":"{root}","grpc_status":14}}'
    text = RING.format(root=root, method="", details=answer)
    assert named(derived({"worker-2.log": [error(text)]})) == {("worker:2", "worker:1", "down")}


def test_a_leader_that_did_all_that_its_accuser_did_may_have_ended() -> None:
    """Whoever loses its leader in training fails; a process that lingers at its end raises nothing."""
    lost = error(RING.format(root="failed to connect to all addresses", method="", details=OLD).replace(
        "task:2:", "task:0 while calling /tensorflow.CoordinationService/Heartbeat:"
    ))  # fmt: skip
    accused = {("worker:1", "worker:0", "leader")}
    left = {"worker-0.log": [step(12)], "worker-1.log": [step(12), lost]}
    assert named(derived(left)) == set()
    assert named(derived(left, exit_code={"worker:0": "-9"})) == accused
    assert named(derived({**left, "worker-0.log": [step(11)]})) == accused
    failed = raised("errors_impl.UnavailableError: " + lost.record["text"])
    assert named(derived({**left, "worker-1.log": [step(12), lost, failed]})) == accused


def test_a_leader_with_the_same_last_words_as_its_accuser_may_have_ended() -> None:
    """A script whose steps are not read ends with one line on all workers, its numbers aside."""
    lost = error(RING.format(root="failed to connect to all addresses", method="", details=OLD).replace(
        "task:2:", "task:0 while calling /tensorflow.CoordinationService/Heartbeat:"
    ))  # fmt: skip
    left = {"worker-0.log": [says("run_stop of 0")], "worker-1.log": [says("run_stop of 1"), lost]}
    assert named(derived(left)) == set()
    assert named(derived({**left, "worker-0.log": [says("eval_start of 0")]})) != set()
    failed = raised("errors_impl.UnavailableError: " + lost.record["text"])
    assert named(derived({**left, "worker-1.log": [says("run_stop of 1"), lost, failed]})) != set()


def test_a_report_below_which_the_script_ends_without_trouble_does_not_count() -> None:
    """The chief of asynchronous training closes its session with workers that have left before."""
    lost = error(RING.format(root="failed to connect to all addresses", method="", details=OLD), level="W")
    accused = {("worker:0", "worker:2", "transport")}
    left = {"worker-0.log": [step(12), lost, says("chief: no more steps")], "worker-2.log": [step(11)]}
    assert named(derived(left)) == set()
    assert named(derived({**left, "worker-0.log": [step(12), lost]})) == accused
    assert named(derived({**left, "worker-0.log": [step(12), lost, says("training failed")]})) == accused
    assert named(derived(left, exit_code={"worker:0": "3"})) == accused


def test_what_follows_the_planned_end_does_not_count() -> None:
    """A leader that finishes first leaves the others with a frightening line."""
    lost = error(RING.format(root="Socket closed", method="", details=OLD))
    other = [step(12), DONE]
    assert named(derived({"worker-0.log": [step(12), lost], "worker-2.log": other})) != set()
    assert named(derived({"worker-0.log": [step(12), DONE, lost], "worker-2.log": other})) == set()


CLUSTER = {"worker:0": cluster_of("10.0.0.1:2222", "10.0.0.2:2222")}


@pytest.mark.parametrize(
    ("text", "worker", "kind"),
    [
        ('W tensorflow/core/framework/op_kernel.cc:993] Unavailable: {"created":"@1489665120.5","description":"EOF","file":"ex\n'
         'ternal/grpc/tcp_posix.c","file_line":235,"grpc_status":14}\n\t [[Node: Assign_2_S81 = _Recv[client_terminated=false,'
         ' send_device="/job:ps/replica:0/task:1/cpu:0"]()]]\n', "ps:1", "transport"),
        ("2026-11-21 01:40:37.0: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with UNAVAILABLE:"
         " failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.2:2222: Failed to connect to remote host:"
         " connect: Connection refused (111)\n", "worker:1", "transport"),
        ("Bad status from CompleteGroupDistributed: Failed precondition: Device /job:worker/replica:0/task:3/device:GPU:0"
         " current incarnation doesn't match with one in the group.\n", "worker:3", "restarted"),
        ("2026-11-21 01:40:37.0: E a/coordination_service.cc:956] Task /job:jax_worker/replica:0/task:9 heartbeat timeout.\n",
         "worker:9", "heartbeat"),
    ],
)  # fmt: skip
def test_older_and_newer_dialects_name_a_peer_too(text: str, worker: str, kind: str) -> None:
    """TensorFlow 1.0, a status without a remote target, one without a level, JAX."""
    tables = derived({"worker-0.log": [error(text)]}, cluster_spec=CLUSTER)
    assert ("worker:0", worker, kind) in named(tables)


def test_the_leader_that_passes_on_an_error_names_nobody() -> None:
    """Whom it calls for that may have left long ago."""
    text = RING.format(root="failed to connect to all addresses", method="", details=OLD).replace(
        "task:2:", "task:2 while calling /tensorflow.CoordinationService/ReportErrorToTask:"
    )
    assert named(derived({"worker-0.log": [error(text)]})) == set()


def test_only_the_name_of_the_accused_is_marked() -> None:
    """TensorFlow 2.21 does not name the leader whose call failed, and then nothing is marked."""
    bare = raised(
        "tensorflow.python.framework.errors_impl.DeadlineExceededError: Collective ops is aborted by: Deadline"
        " Exceeded\n\nRPC: /tensorflow.CoordinationService/Heartbeat"
    )
    silent = error("WARNING:tensorflow:/job:worker/task:2 seems down, retrying 1/3", level="W")
    rows = derived({"worker-1.log": [bare, silent]})["accusations"].sort("kind").to_dicts()
    assert [
        (row["worker"], row["kind"], row["says"][row["start"] or 0 : row["end"] or 0]) for row in rows
    ] == [
        ("worker:2", "down", "/job:worker/task:2"),
        ("worker:0", "leader", ""),
    ]


@pytest.mark.parametrize(
    ("interface", "accused"),
    [("ib0", {("worker:0", "worker:1", "transport")}), ("docker0", set())],
)
def test_a_peer_is_named_by_the_address_that_nccl_took(
    tables_of: Callable[[Mapping[str, str]], Tables], interface: str, accused: set[tuple[str, str, str]]
) -> None:
    """NCCL may use another network than the cluster's addresses; a bridge has one address on every host."""
    using = f"step 1 loss 0.5\ndgx12:4120:4877 [0] NCCL INFO Bootstrap : Using {interface}:10.200.0.12<0>\n"
    lost = (
        "step 1 loss 0.5\n"
        "dgx11:4120:4901 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
        "10.200.0.12<47115> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
    )
    assert named(tables_of({"worker-0.log": lost, "worker-1.log": using})) == accused
