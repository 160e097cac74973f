"""Which worker's own loss, or batch, was the first that is not finite."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from analyzer.derive.checksums.nonfinite import nonfinite
from analyzer.tables.builders import frame

Seen = Mapping[str, tuple[int, str]]


def compared(kind: str, seen: Seen, workers: int = 2) -> dict[str, tuple[bool, bool]]:
    """Whether each worker is first, and whether all are not finite."""
    rows = (
        {"worker": worker, "source": f"{worker}.jsonl", "line": 1, "kind": kind, "step": step, "name": "it",
         "digest": digest}
        for worker, (step, digest) in seen.items()
    )  # fmt: skip
    trainers = ({"worker": f"worker:{index}", "trains": True} for index in range(workers))
    found = nonfinite(frame("checksums", rows), frame("workers", trainers))
    return {row["worker"]: (row["first"], row["everywhere"]) for row in found.to_dicts()}


@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        ((21, "nan"), (22, "nan"), True),
        ((21, "inf"), (21, "finite"), True),
        ((21, "nan"), (60, "finite"), True),
        ((21, "nan"), (21, "nan"), False),
        ((21, "nan"), (20, "finite"), False),
        ((21, "finite"), (21, "finite"), False),
    ],
)
def test_a_loss_is_first_where_all_others_were_finite(
    one: tuple[int, str], other: tuple[int, str], first: bool
) -> None:
    """At the very step: the all-reduce hands it on within it."""
    found = compared("own_loss", {"worker:0": other, "worker:1": one})
    assert found["worker:1"][0] == first
    assert not found["worker:0"][0]


def test_no_loss_is_first_where_a_worker_is_unknown() -> None:
    """That one may have been first, or had it at the same step."""
    seen = {"worker:0": (22, "nan"), "worker:1": (21, "nan")}
    assert compared("own_loss", seen, workers=3)["worker:1"] == (False, False)
    assert compared("own_loss", {"worker:0": (21, "nan")}, workers=1) == {"worker:0": (False, True)}


def test_a_batch_is_first_where_no_other_is_bad_up_to_it() -> None:
    """Of batches, only bad ones are stated."""
    assert compared("nonfinite_batch", {"worker:1": (24, "nan")})["worker:1"] == (True, False)
    seen = {"worker:0": (24, "nan"), "worker:1": (24, "nan")}
    assert {first for first, _ in compared("nonfinite_batch", seen).values()} == {False}


def test_the_latest_process_of_a_worker_counts() -> None:
    """A restart begins anew."""
    rows = [
        {"worker": "worker:0", "time": time, "kind": "own_loss", "step": step, "name": "it", "digest": digest}
        for time, step, digest in ((1.0, 30, "finite"), (2.0, 12, "nan"))
    ]
    found = nonfinite(frame("checksums", rows), frame("workers", []))
    assert found.select("step", "value").rows() == [(12, "NaN")]
