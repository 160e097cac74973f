"""Who waits for whom, from traces."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.waits import waits
from analyzer.schema import frame


def spans(spent: dict[str, float]) -> pl.DataFrame:
    """Four collectives of each worker, a second apart, each taking so long; half a second of input."""
    rows = [
        {"worker": worker, "kind": kind, "name": name, "start": at, "end": at + length, "instance": instance,
         "thread": name}
        for worker, seconds in spent.items()
        for instance in range(4)
        for kind, name, at, length in (
            ("collective", "CollectiveReduce", float(instance), seconds),
            ("input", "Iterator::Root", instance + 0.1, 0.0307),
        )
    ]  # fmt: skip
    return frame("spans", rows)


def test_shares_are_told_in_percent_too() -> None:
    """Rounded as people say them; a share of 0.00308 is 0.3 %."""
    rows = waits(spans({"worker:0": 0.9, "worker:1": 0.9, "worker:2": 0.0121})).to_dicts()
    late = rows[2]
    assert (late["collective_percent"], late["delay_percent"], late["input_percent"]) == (1.6, 90.7, 3.9)
    for row in rows:
        for name in ("collective", "delay", "input"):
            assert row[f"{name}_percent"] == pytest.approx(100 * row[f"{name}_share"], abs=0.05)


def test_one_worker_alone_makes_nobody_wait() -> None:
    """Nothing to compare with is no delay of zero."""
    (row,) = waits(spans({"worker:0": 0.9})).to_dicts()
    assert (row["delay_share"], row["delay_percent"]) == (None, None)
