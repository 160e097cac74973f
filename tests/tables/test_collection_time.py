"""When the files of a job were collected: whether the times of the logs are known to be UTC."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.tables.collection_time import all_in_utc

LOG = {"source": "a.log", "kind": "log", "worker": "worker:0", "last_time": 2.0, "time_zone": "UTC"}


@pytest.mark.parametrize(
    ("second", "known"),
    [
        ({}, True),
        ({"time_zone": "unstated"}, False),
        ({"time_zone": "mixed"}, False),
        ({"time_zone": None}, False),
        ({"time_zone": None, "last_time": None}, True),
        ({"time_zone": "unstated", "worker": None}, True),
        ({"time_zone": None, "kind": "event_file"}, True),
    ],
    ids=[
        "UTC",
        "without zones",
        "some lines without",
        "a time that is not the log's own",
        "without times",
        "no worker's",
        "no log",
    ],
)
def test_each_log_of_a_worker_counts(second: dict[str, object], known: bool) -> None:
    """Each has its own clock."""
    schema = {"source": pl.String, "kind": pl.String, "worker": pl.String, "last_time": pl.Float64}
    rows = [LOG, {**LOG, "source": "b.log", **second}]
    assert all_in_utc(pl.DataFrame(rows, schema={**schema, "time_zone": pl.String})) is known


def test_without_logs_nothing_is_known() -> None:
    """An event file does not tell the zone of anything else."""
    assert not all_in_utc(pl.DataFrame([{**LOG, "kind": "event_file"}]))
