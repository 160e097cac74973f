"""Where the time of a step goes, and which collective is which."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.traces.collectives import collectives
from analyzer.derive.traces.steps import SPENT, steps
from analyzer.tables.builders import frame
from tests.recordings import Recordings, sample_run_named

Cells = tuple[str, float, float | None]


def spans(*cells: Cells, worker: str = "worker:0", **more: object) -> pl.DataFrame:
    """Spans of one trace, (kind, start, end)."""
    return frame(
        "spans",
        [
            {"worker": worker, "source": "t", "kind": kind, "name": kind, "start": start, "end": end,
             "thread": "main", "absolute": True, **more}
            for kind, start, end in cells
        ],
    )  # fmt: skip


def test_time_is_counted_once_and_for_the_work_under_way() -> None:
    """Computing within a collective is computing; what nothing covers is idle; the parts are the whole."""
    table = pl.concat([
        spans(("step", 0.0, 10.0), step=7),
        spans(("collective", 2.0, 8.0), ("compute", 1.0, 3.0), ("compute", 5.0, 6.0), ("input", 7.0, 9.0),
              ("copy", 5.5, 6.5), ("compile", 0.0, 0.5), ("compute", 9.5, 12.0)),
    ])  # fmt: skip
    (row,) = steps(table).to_dicts()
    spent = {kind: row[kind] for kind in SPENT}
    assert spent == {"compile": 0.5, "compute": 3.5, "copy": 0.5, "collective": 3.5, "input": 1.0}
    assert row["idle"] == 1.0
    assert row["step"] == 7
    assert row["seconds"] == sum(spent.values()) + row["idle"] == 10.0


def test_calls_of_a_function_are_steps_where_none_is_numbered() -> None:
    """Each begins where the one before it ended, so that the wait for its batch is its own."""
    table = spans(("function", 1.0, 2.0), ("input", 2.1, 3.9), ("function", 4.0, 5.0))
    rows = steps(table).to_dicts()
    assert [(row["nth"], row["step"], row["start"], row["seconds"]) for row in rows] == [
        (1, None, 1.0, 1.0), (2, None, 2.0, 3.0),
    ]  # fmt: skip
    assert rows[1]["input"] == pytest.approx(1.8)


def test_fetching_ahead_is_no_waiting() -> None:
    """The thread that fills the prefetch buffer works beside training."""
    table = spans(("step", 0.0, 10.0), step=1)
    ahead = spans(("input", 1.0, 9.0)).with_columns(thread=pl.lit("tf_data_multi_device_iterator_resource/1"))
    (row,) = steps(pl.concat([table, ahead])).to_dicts()
    assert row["input"] == 0


def test_every_step_of_the_recordings_is_the_sum_of_its_parts(recordings: Recordings) -> None:
    """On real traces of several versions."""
    for name in ("collective-stalled", "slow-worker-fit-tf28", "slow-input-all-tf24"):
        found = recordings.tables(sample_run_named(name))["steps"]
        assert found.height >= 2
        parts = found.select(pl.sum_horizontal(*SPENT, "idle") - pl.col("seconds")).to_series()
        assert parts.abs().max() < 1e-6  # type: ignore[operator]


def test_collectives_without_keys_are_matched_by_name_order_and_clock() -> None:
    """One trace began a call later: its first is the other's second."""
    early = spans(("collective", 1.0, 2.0), ("collective", 3.0, 4.0), ("collective", 5.0, 6.0))
    late = spans(("collective", 3.9, 4.0), ("collective", 5.5, 6.0), worker="worker:1")
    found = collectives(pl.concat([early, late])).filter("shared")
    assert found.select("worker", "nth").rows() == [
        ("worker:0", 2), ("worker:0", 3), ("worker:1", 2), ("worker:1", 3),
    ]  # fmt: skip
    assert found["last"].to_list() == [False, False, True, True]
    assert found["caused_seconds"].to_list() == pytest.approx([0, 0, 0.9, 0.5])


def test_a_launch_and_replicas_of_one_worker_are_one_collective() -> None:
    """Up to 2.8 the launch is an event too; under MirroredStrategy every replica has its own."""
    launch = spans(("collective", 1.0, 1.1)).with_columns(thread=pl.lit("tf_Compute/1"))
    run = spans(("collective", 1.2, 2.0)).with_columns(thread=pl.lit("collective_ops/1"))
    assert collectives(pl.concat([launch, run])).select("start", "end").rows() == [(1.2, 2.0)]
    replicas = spans(("collective", 1.0, 2.0), ("collective", 1.5, 2.0), instance=9)
    (row,) = collectives(replicas).to_dicts()
    assert (row["start"], row["shared"], row["last"]) == (1.5, True, False)


@pytest.mark.parametrize("name", ["slow-worker-tf215", "slow-worker-fit-tf28", "throttled-worker-tf211"])
def test_the_slow_worker_of_a_recording_causes_the_wait(name: str, recordings: Recordings) -> None:
    """It enters last, and the others wait longer for it than for any other."""
    guilty = {"slow-worker-tf215": "worker:2", "slow-worker-fit-tf28": "worker:0"}.get(name, "worker:1")
    found = recordings.tables(sample_run_named(name))["waits"]
    assert found.sort("caused_seconds")["worker"][-1] == guilty
    others = found.filter(pl.col("worker") != guilty)["caused_seconds"].sum()
    assert found.filter(pl.col("worker") == guilty)["caused_seconds"][0] > 5 * others
