"""A loss before or behind its step, and short forms of its place."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.progress.points import ProgressPoint
from analyzer.ingest.logs.progress.reader import ProgressReader


def points(text: str) -> list[ProgressPoint]:
    """The points of a line."""
    return ProgressReader().points(text)


@pytest.mark.parametrize(
    ("line", "epoch", "step", "tag"),
    [
        ("Training loss (for one batch) at step 12: 0.5", None, 12, "loss"),
        ("Minibatch loss at step 12: 0.5", None, 12, "loss"),
        ("Validation loss at epoch 3: 0.5", 3, None, "Validation loss"),
        ("mean loss over epoch 3 = 0.5", 3, None, "loss"),
        ("cost after iteration 12: 0.5", None, 12, "cost"),
        ("Avg loss 0.5 after 12 batches", None, 12, "loss"),
        ("[3, 12] loss: 0.5", 3, 12, "loss"),
        ("e3 b12 loss 0.5", 3, 12, "loss"),
        ("E3/S12 loss=0.5", 3, 12, "loss"),
        ("шаг 12 потеря 0.5", None, 12, "потеря"),
        ("스텝 12 손실 0.5", None, 12, "손실"),
    ],
)
def test_a_loss_may_stand_around_its_place(line: str, epoch: int | None, step: int | None, tag: str) -> None:
    """Before it, behind it, and beside letters for epoch and step."""
    base, *values = points(line)
    assert (base.epoch, base.step) == (epoch, step)
    assert [(value.tag, value.value) for value in values] == [(tag, 0.5)]


@pytest.mark.parametrize(
    "line",
    [
        "stop after 12 steps without a better loss",
        "[3, 12] is the shape of a batch",
        "e2 b12 were merged",
        "loss 0.5 is what it was after the step of yesterday",
    ],
)
def test_numbers_beside_such_words_are_no_place(line: str) -> None:
    """There is no loss, or no count."""
    assert points(line) == []


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("epoch 2/4: 30 steps in 1.4s, loss first 2.5 last 0.5 mean 1.25", 1.25),
        ("epoch 2 loss: min 0.5, max 2.5, avg 1.25", 1.25),
        ("epoch 2 train_loss (mean) 1.25 lr 0.1", 1.25),
        ("epoch 2 loss 0.5 mean 1.25", 0.5),
    ],
)
def test_of_a_summary_the_mean_is_the_loss(line: str, loss: float) -> None:
    """Least, largest, first and last values are of single steps; a value right behind the name is the loss."""
    found = [point for point in points(line) if point.tag in {"loss", "train_loss"}]
    assert [(point.epoch, point.value) for point in found] == [(2, loss)]
