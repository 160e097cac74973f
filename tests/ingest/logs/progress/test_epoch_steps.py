"""Epochs and their steps in brackets or between signs, and what a line says of its scope."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.progress.reader import ProgressReader


def test_an_epoch_in_brackets_may_have_its_step_behind_it() -> None:
    """As PyTorch's examples print them; another number in brackets is no step."""
    (step, *_) = ProgressReader().points("Epoch: [3][ 20/100]\tLoss 0.5 (0.6)")
    assert (step.epoch, step.step, step.steps) == (3, 20, 100)
    (step, *_) = ProgressReader().points("Epoch: [3] [20] Loss 0.5 (0.6)")
    assert (step.epoch, step.step) == (3, None)


def test_chinese_counts_epochs_without_a_space() -> None:
    """The number stands between its two signs; a heading has no metrics."""
    found = ProgressReader().points("第3轮 | ELBO=-1.5 | KL=0.2")
    assert [(point.tag, point.epoch) for point in found] == [("step", 3), ("ELBO", 3), ("KL", 3)]
    assert ProgressReader().points("第3轮 | 开始") == []


@pytest.mark.parametrize(
    ("line", "scope"),
    [
        ("epoch 2 batch 30: loss=0.5 (823.1 samples/s per worker)", "unknown"),
        ("epoch 2 batch 30: loss=0.5, batch size per replica 32", "unknown"),
        ("epoch 2 batch 30: loss=0.5 (per replica)", "local"),
    ],
)
def test_a_rate_per_worker_makes_no_loss_local(line: str, scope: str) -> None:
    """What is counted per worker is the number before these words."""
    assert {point.scope for point in ProgressReader().points(line) if "loss" in point.tag} == {scope}


def test_an_epoch_of_an_old_keras_has_values_and_no_steps() -> None:
    """With `verbose=2` it prints a heading and, once the epoch is over, its duration in whole seconds."""
    progress = ProgressReader()
    progress.points("Epoch 2/3")
    found = progress.points(" - 21s - loss: 0.4102 - val_loss: 0.5")
    assert [(each.tag, each.value) for each in found] == [("loss", 0.4102), ("val_loss", 0.5)]
    assert {(each.epoch, each.epochs, each.step, each.steps, each.scope) for each in found} == {
        (2, 3, None, None, "global")
    }


@pytest.mark.parametrize("lines", [(" - 21s - loss: 0.41",), ("Epoch 2/3", " - 21s 6ms/step - loss: 0.41")])
def test_the_rest_of_a_broken_bar_ends_no_epoch(lines: tuple[str, ...]) -> None:
    """Nor does such a line without the heading of an epoch."""
    progress = ProgressReader()
    assert "loss" not in {each.tag for line in lines for each in progress.points(line)}
