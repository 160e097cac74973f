"""Whether the progress of a worker shows that it trained."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.training.progress import last_places, stepped


@pytest.mark.parametrize(
    ("rows", "trained"),
    [
        ([("D", 1, None), ("D", 2, None)], True),
        ([("loss", 1, None), ("loss", 2, None)], True),
        ([("D", 1, None), ("G", 1, None)], False),
        ([("epoch", 1, 0), ("epoch", 2, 0)], False),
        ([("step", 1, None), ("step", 2, None)], False),
        ([("loss", None, 3)], True),
        ([("nll", 1, None), ("epoch_seconds", 1, None)], True),
        ([("val_nll", 1, None), ("val_seconds", 1, None)], False),
        ([("epoch_seconds", 1, None)], False),
    ],
)
def test_a_step_or_the_metrics_of_two_epochs_show_training(
    rows: list[tuple[str, int | None, int | None]], *, trained: bool
) -> None:
    """Headings of epochs do not, nor the metrics of one epoch, which may be those of a checkpoint.

    What was read from a checkpoint took no time; an evaluation of it does.
    """
    columns = {
        "worker": pl.String,
        "attempt": pl.Int64,
        "tag": pl.String,
        "epoch": pl.Int64,
        "step": pl.Int64,
    }
    scalars = pl.DataFrame([("worker:0", 1, *row) for row in rows], schema=columns, orient="row")
    assert stepped(scalars) == ({("worker:0", 1)} if trained else set())


@pytest.mark.parametrize(
    ("last", "planned"),
    [
        ((160, None), True),
        ((140, None), False),
        ((170, None), False),
    ],
    ids=["the step of the plan's last line", "a step before it", "a step beyond it"],
)
def test_a_line_that_repeats_a_step_keeps_its_place_in_the_plan(
    last: tuple[int, int | None], *, planned: bool
) -> None:
    """`reached step 160` below `step 160/160` is the planned end; another step has no plan of its own."""
    columns = {"tag": pl.String, "step": pl.Int64, "steps": pl.Int64, "line": pl.Int64}
    rows = [("step", 140, 160, 1), ("step", 160, 160, 2), ("step", *last, 3)]
    scalars = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        worker=pl.lit("worker:0"),
        attempt=pl.lit(1, pl.Int64),
        source=pl.lit("worker-0.log"),
        origin=pl.lit("loop"),
        epoch=pl.lit(None, pl.Int64),
        epochs=pl.lit(None, pl.Int64),
        time=pl.lit(None, pl.Float64),
    )
    assert last_places(scalars)["worker:0", 1].is_planned_end is planned
