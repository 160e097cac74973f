"""What log and event file tell of the same values."""

from __future__ import annotations

import math

import polars as pl
import pytest

from analyzer.derive.curves.series import series
from analyzer.tables.builders import frame
from tests.recordings import Recordings, sample_run_named

PLACE = {"worker": "worker:0", "attempt": 1, "tag": "loss", "origin": "loop"}


def rows(*cells: dict[str, object]) -> list[dict[str, object]]:
    """The series of these values."""
    return series(frame("scalars", [PLACE | cell for cell in cells])).to_dicts()


def test_a_value_that_both_tell_is_one() -> None:
    """With the digits and the time of the event file, and the line of the log."""
    (row,) = rows(
        {"step": 3, "value": 1.4142, "source": "worker-0.log", "line": 7},
        {"step": 3, "value": 2**0.5, "time": 99.0, "origin": "event_file", "source": "events.out"},
    )
    assert (row["origin"], row["agree"], row["value"], row["printed"]) == ("both", True, 2**0.5, 1.4142)
    assert (row["time"], row["source"], row["line"]) == (99.0, "worker-0.log", 7)


@pytest.mark.parametrize(
    ("printed", "exact", "agree"),
    [(1.4142, 2**0.5, True), (1.416, 2**0.5, False), (0.0001, 0.00014, True), (0.0, 0.01, False),
     (math.nan, math.nan, None), (math.inf, 1.0, None)],
)  # fmt: skip
def test_they_agree_as_far_as_a_log_rounds(printed: float, exact: float, agree: bool | None) -> None:
    """Nothing is said of values that are not finite."""
    (row,) = rows({"step": 1, "value": printed}, {"step": 1, "value": exact, "origin": "event_file"})
    assert row["agree"] is agree


def test_epochs_of_fit_are_those_of_its_callback() -> None:
    """Keras counts them from 0 in event files; a line in the middle of an epoch is none of them."""
    fit = {"origin": "fit", "epoch": 2, "steps": 20}
    told = rows(
        {**fit, "step": 10, "value": 0.8},
        {**fit, "step": 20, "value": 0.7},
        {**fit, "step": 20, "value": 0.9, "tag": "val_loss"},
        {"step": 1, "value": 0.70001, "tag": "epoch_loss", "origin": "event_file"},
        {"step": 1, "value": 0.90001, "tag": "validation/epoch_loss", "origin": "event_file"},
    )
    assert [(row["tag"], row["step"], row["origin"], row["written_as"]) for row in told] == [
        ("loss", 10, "fit", None),
        ("loss", 20, "both", "epoch_loss"),
        ("val_loss", 20, "both", "validation/epoch_loss"),
    ]


def test_lives_and_workers_are_not_mixed() -> None:
    """The same step of another life is another value."""
    told = rows(
        {"step": 1, "value": 1.0},
        {"step": 1, "value": 1.0, "origin": "event_file", "attempt": 2},
        {"step": 1, "value": 1.0, "origin": "event_file", "worker": "worker:1"},
    )
    assert [row["origin"] for row in told] == ["loop", "event_file", "event_file"]


def test_recorded_runs_agree_with_themselves(recordings: Recordings) -> None:
    """A custom loop's own summaries, and those of Keras; no value is lost and none told twice."""
    for name, shared in (("slow-worker-tf215", 135), ("healthy-pauses-fit-tf215", 6)):
        found = recordings.tables(sample_run_named(name))
        both = found["series"].filter(pl.col("origin") == "both")
        assert both.height == shared
        assert both["agree"].all()
        key = ["worker", "attempt", "tag", "epoch", "step", "origin"]
        assert not found["series"].select(key).is_duplicated().any()
        values = found["scalars"].filter(~pl.col("tag").is_in(["step", "epoch"]))
        assert found["series"].height == values.unique(key).height - shared
