"""Rows of TensorFlow's benchmarks, and counts with commas between thousands, are places in training."""

from __future__ import annotations

import math

import pytest

from analyzer.ingest.logs.progress.points import ProgressPoint
from analyzer.ingest.logs.progress.reader import ProgressReader


def points(text: str) -> list[ProgressPoint]:
    """The values of one line."""
    return ProgressReader().points(text)


@pytest.mark.parametrize(
    ("row", "loss"),
    [
        ("40\timages/sec: 512.3 +/- 1.4 (jitter = 3.0)\t7.251", 7.251),
        ("40\timages/sec: 512.3 +/- 1.4 (jitter = 3.0)\t7.251\t0.010\t0.052", 7.251),
        ("40\timages/sec: 512.3 +/- 1.4 (jitter = 3.0)\t7.251 1604275169", 7.251),
        ("40      images/sec: 512.3 +/- 1.4 (jitter = 3.0)        nan", math.nan),
    ],
)
def test_a_row_of_a_benchmark_is_progress(row: str, loss: float) -> None:
    """tf_cnn_benchmarks names its columns once, above the rows."""
    found = {point.tag: point.value for point in points(row)}
    assert found["step"] == 40
    assert found["images/sec"] == 512.3
    assert found["loss"] == pytest.approx(loss, nan_ok=True)


@pytest.mark.parametrize(
    "line",
    ["total images/sec: 812.40", "images/sec: 512.3", "Step\tImg/sec\ttotal_loss", "40 images/sec: fast"],
)
def test_other_lines_of_a_benchmark_are_none(line: str) -> None:
    """Neither the heading nor the total is a step."""
    assert points(line) == []


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("step: 12,500 of 50,000, loss: 0.96", (12_500, 50_000)),
        ("step 1,234,567 loss 0.5", (1_234_567, None)),
        ("step 12, loss 0.5", (12, None)),
        ("step=3,loss=0.5", (3, None)),
        ("step 5,123.4 loss 0.1", (5, None)),
        ("step 7,100,9 loss 2.0", (7, None)),
        ("step 12,5000 loss 2.0", (12, None)),
    ],
)
def test_commas_may_stand_between_thousands(line: str, place: tuple[int, int | None]) -> None:
    """A comma before anything but three digits separates values."""
    step, *_ = points(line)
    assert (step.step, step.steps) == place
