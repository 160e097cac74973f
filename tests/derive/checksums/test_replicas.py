"""Checksums of weights and batches, worker against worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzer.derive.checksums.replicas import replicas
from analyzer.tables.builders import frame

Digests = Mapping[str, Sequence[tuple[int, str, str]]]


def compared(kind: str, workers: Digests) -> list[tuple[object, ...]]:
    """Worker, checksums that are equal, first step that differs, whether from the start, whether alone."""
    rows = (
        {"worker": worker, "source": f"{worker}.jsonl", "line": step, "kind": kind, "step": step, "name": name,
         "digest": digest}
        for worker, taken in workers.items()
        for step, name, digest in taken
    )  # fmt: skip
    found = replicas(frame("checksums", rows))
    return found.select("worker", "equal", "first_step", "from_start", "odd").rows()


def test_equal_weights_have_no_first_difference() -> None:
    """Nobody is odd."""
    taken = [(1, "kernel", "a"), (1, "bias", "b")]
    assert compared("weights", {"worker:0": taken, "worker:1": taken}) == [
        ("worker:0", 2, None, False, False),
        ("worker:1", 2, None, False, False),
    ]


def test_of_three_workers_one_can_be_odd() -> None:
    """Of two, nobody can say which."""
    alike, other = [(1, "kernel", "a")], [(1, "kernel", "z")]
    three = compared("weights", {"worker:0": alike, "worker:1": alike, "worker:2": other})
    assert [row[-1] for row in three] == [False, False, True]
    two = compared("weights", {"worker:0": alike, "worker:1": other})
    assert [row[-1] for row in two] == [False, False]


def test_weights_that_drift_began_alike() -> None:
    """The first step at which they differ lies behind one at which they do not."""
    first = compared(
        "weights", {"worker:0": [(1, "k", "a"), (9, "k", "b")], "worker:1": [(1, "k", "a"), (9, "k", "c")]}
    )
    assert {row[2:4] for row in first} == {(9, False)}


def test_what_one_worker_alone_has_is_not_compared() -> None:
    """A worker that was killed took fewer checksums."""
    taken = [(0, "iterator 0", "a"), (1, "iterator 0", "b")]
    assert {row[1] for row in compared("batch", {"worker:0": taken, "worker:1": taken[:1]})} == {1}


def test_a_worker_alone_is_compared_with_nobody() -> None:
    """No rows, so that no rule says that all are equal."""
    assert compared("weights", {"worker:0": [(1, "kernel", "a")]}) == []


def test_norms_that_were_summed_in_another_order_are_equal() -> None:
    """Printed norms may differ in their last digits; checksums may not, nor may norms of other weights."""
    taken = {"worker:0": [(20, "|theta|", "8.28164011")], "worker:1": [(20, "|theta|", "8.28164013")]}
    assert [row[1] for row in compared("printed_weights", taken)] == [1, 1]
    other = {**taken, "worker:1": [(20, "|theta|", "8.28312207")]}
    assert [row[1] for row in compared("printed_weights", other)] == [0, 0]
    digests = {"worker:0": [(1, "sha1", "8281640")], "worker:1": [(1, "sha1", "8281641")]}
    assert [row[1] for row in compared("printed_weights", digests)] == [0, 0]
