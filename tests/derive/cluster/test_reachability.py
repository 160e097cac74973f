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
