"""Who reached whom, by the probes of the recorders."""

from __future__ import annotations

from analyzer.derive.cluster.reachability import reachability
from analyzer.tables.builders import frame


def probe(worker: int, peer: int, outcome: str, line: int = 1) -> dict[str, object]:
    """One attempt of a worker to connect to a task."""
    return {
        "worker": f"worker:{worker}", "peer": f"worker:{peer}", "address": f"10.0.0.{peer}:2222",
        "source": f"worker-{worker}/recording.jsonl", "line": line, "outcome": outcome, "own": worker == peer,
    }  # fmt: skip


def test_a_peer_that_listens_is_told_from_one_that_was_not_recorded() -> None:
    """Only its own recorder can say that it listens."""
    rows = [probe(0, 1, "timed_out"), probe(0, 2, "timed_out"), probe(1, 1, "open")]
    found = reachability(frame("reach", rows))
    assert found.select("peer", "listens").rows() == [("worker:1", True), ("worker:2", None)]


def test_attempts_are_counted_and_the_last_one_stands() -> None:
    """A peer that starts later is reached in the end."""
    rows = [probe(0, 1, "refused"), probe(0, 1, "open", line=4), probe(2, 1, "refused")]
    found = reachability(frame("reach", rows))
    wanted = ("worker", "asked", "opened", "outcome", "line", "others_open")
    assert found.select(wanted).rows() == [
        ("worker:0", 2, 1, "open", 4, 0),
        ("worker:2", 1, 0, "refused", 1, 1),
    ]


def test_a_firewall_before_one_worker_is_told_from_one_before_another() -> None:
    """Where the others reach one another, it is before the one that they cannot reach, or that cannot reach them."""
    before = {0: ("open", "open"), 1: ("timed_out", "open"), 2: ("timed_out", "open")}
    behind = {0: ("timed_out", "timed_out"), 1: ("open", "open"), 2: ("open", "open")}
    for outcomes, column in ((before, "shut_out"), (behind, "cut_off")):
        rows = [
            probe(worker, peer, outcome)
            for worker, told in outcomes.items()
            for peer, outcome in zip([peer for peer in range(3) if peer != worker], told, strict=True)
        ]
        found = reachability(frame("reach", rows))
        failed = found.filter(found["outcome"] == "timed_out").select("shut_out", "cut_off").unique()
        assert failed.rows() == [(column == "shut_out", column == "cut_off")]


def test_of_two_workers_nobody_knows_which_side_drops_the_packets() -> None:
    """One attempt that fails points at either."""
    found = reachability(frame("reach", [probe(0, 1, "timed_out"), probe(1, 0, "open")]))
    assert not (found["shut_out"] | found["cut_off"]).any()
