"""Steps behind their epoch, both in brackets."""

from __future__ import annotations

from analyzer.ingest.logs.progress import ProgressReader


def test_an_epoch_in_brackets_may_have_its_step_behind_it() -> None:
    """As PyTorch's examples print them; another number in brackets is no step."""
    (step, *_) = ProgressReader().points("Epoch: [3][ 20/100]\tLoss 0.5 (0.6)")
    assert (step.epoch, step.step, step.steps) == (3, 20, 100)
    (step, *_) = ProgressReader().points("Epoch: [3] [20] Loss 0.5 (0.6)")
    assert (step.epoch, step.step) == (3, None)
