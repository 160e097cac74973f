"""Whether the progress of a worker shows that it trained."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.training.progress import stepped


@pytest.mark.parametrize(
    ("rows", "trained"),
    [
        ([("D", 1, None), ("D", 2, None)], True),
        ([("loss", 1, None), ("loss", 2, None)], True),
        ([("D", 1, None), ("G", 1, None)], False),
        ([("epoch", 1, 0), ("epoch", 2, 0)], False),
        ([("step", 1, None), ("step", 2, None)], False),
        ([("loss", None, 3)], True),
    ],
)
def test_a_step_or_the_metrics_of_two_epochs_show_training(
    rows: list[tuple[str, int | None, int | None]], *, trained: bool
) -> None:
    """Headings of epochs do not, nor the metrics of one epoch, which may be those of a checkpoint."""
    columns = {
        "worker": pl.String,
        "attempt": pl.Int64,
        "tag": pl.String,
        "epoch": pl.Int64,
        "step": pl.Int64,
    }
    scalars = pl.DataFrame([("worker:0", 1, *row) for row in rows], schema=columns, orient="row")
    assert stepped(scalars) == ({("worker:0", 1)} if trained else set())
