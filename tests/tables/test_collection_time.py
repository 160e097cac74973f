"""When the files of a job were collected: whether the logs state the time zone of their times."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.tables.collection_time import all_state_zones

BARE = "2026-11-24 02:00:02.169785: I tensorflow/core/a.cc:1] Started"
NO_FACTS = pl.DataFrame(schema={"source": pl.String, "key": pl.String})
STAMPED = "2026-11-24T02:00:03.500000001Z INFO:tensorflow:Check health not enabled."


@pytest.mark.parametrize(
    ("lines", "stated"),
    [
        ([(2.0, "2026-11-24 02:00:02,100+0000 INFO step 1")], True),
        ([(2.0, BARE), (3.5, STAMPED)], True),
        ([(2.0, BARE)], False),
        ([(3.5, STAMPED), (3602.0, BARE)], False),
        ([(3602.0, BARE), (3.5, STAMPED)], False),
        ([(3.5, "2026-11-24T02:00:03.500000Z step 1 loss 0.5")], False),
        ([(2.0, "2026-11-24 02:00:02,100 -10:00 is too cold")], False),
        ([], False),
    ],
    ids=[
        "own times",
        "a collector's, by which the own are right",
        "none",
        "a collector's before own ones",
        "two clocks in one log",
        "an entry's, whose zone may be assumed",
        "a number below zero",
        "no times",
    ],
)
def test_logs_state_zones(lines: list[tuple[float, str]], stated: bool) -> None:
    """Own times without a zone count only beside a collector's that agree with them."""
    rows = [
        {"source": "a.log", "line": i, "time": time, "text": text} for i, (time, text) in enumerate(lines)
    ]
    source = {
        "source": "a.log",
        "kind": "log",
        "worker": "worker:0",
        "last_time": lines[-1][0] if lines else None,
    }
    schema = {"source": pl.String, "line": pl.Int64, "time": pl.Float64, "text": pl.String}
    assert all_state_zones(NO_FACTS, pl.DataFrame([source]), pl.DataFrame(rows, schema=schema)) is stated


def test_a_second_log_without_zones_is_in_doubt() -> None:
    """Each log has its own clock, unless its offset from UTC is known."""
    sources = [
        {"source": f"{w}.log", "kind": "log", "worker": f"worker:{w}", "last_time": 2.0} for w in (0, 1)
    ]
    texts = ["2026-11-24T02:00:02Z step 1", "2026-11-24 02:00:02 step 1"]
    rows = [{"source": f"{w}.log", "line": 1, "time": 2.0, "text": text} for w, text in enumerate(texts)]
    assert not all_state_zones(NO_FACTS, pl.DataFrame(sources), pl.DataFrame(rows))
    known = pl.DataFrame([{"source": "1.log", "key": "utc_offset"}])
    assert all_state_zones(known, pl.DataFrame(sources), pl.DataFrame(rows))
