"""Of too many scalars, those are kept that tell the course of a curve."""

from __future__ import annotations

from math import inf, isnan, nan

from analyzer.ingest.tensorboard.thinning import kept_rows


def test_what_stands_out_of_a_curve_is_kept() -> None:
    """The first and the last value, the extremes, and those that are not finite."""
    values = [1 / (1 + step) for step in range(10_000)]
    values[5_000], values[6_000], values[7_000], values[8_000] = 99.0, -99.0, nan, inf
    rows = kept_rows(["loss"] * len(values), values, 600)
    kept = [values[row] for row in rows]
    assert rows == sorted(rows)
    assert len(rows) <= 600
    assert {0, 5_000, 6_000, 7_000, 8_000, 9_999} <= set(rows)
    assert sum(map(isnan, kept)) == 1


def test_a_short_curve_is_kept_beside_a_long_one() -> None:
    """A tag of a few values loses none of them."""
    tags = ["loss"] * 5_000 + ["epoch_loss"] * 3 + ["loss"] * 5_000
    rows = kept_rows(tags, [0.5] * len(tags), 600)
    assert {5_000, 5_001, 5_002} <= set(rows)


def test_tags_beyond_the_limit_are_left_out() -> None:
    """The first ones stay."""
    tags = [f"tag_{number}" for number in range(1_000)]
    assert kept_rows(tags, [0.5] * len(tags), 600) == list(range(100))
