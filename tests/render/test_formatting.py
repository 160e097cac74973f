"""Words for numbers."""

from __future__ import annotations

import pytest

from analyzer.render import formatting, phrasing


@pytest.mark.parametrize(
    ("value", "word"), [(0.99, "certain"), (0.9, "strong"), (0.6, "possible"), (0.3, "weak")]
)
def test_certain_is_not_said_lightly(value: float, word: str) -> None:
    """A sixth of such verdicts would be wrong."""
    assert formatting.confidence(value) == word


@pytest.mark.parametrize(
    ("here", "said"),
    [
        (1.02, "A step took 1.02 s, about as long as in the good run"),
        (4.0, "A step took 4.00 s, in the good run 1.00 s (4.0 times as long)"),
        (None, ""),
    ],
)
def test_an_equal_pace_is_no_factor(here: float | None, said: str) -> None:
    """Nobody needs to read that it is 1.0 times as long."""
    assert phrasing.pace({"here": here, "there": 1.0}) == said


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1795225237.754, "2026-11-21 01:40:37.754 UTC"),
        (28_006_837.5, "11-21 03:40:37.500 UTC"),
        (62_364.0, "17:19:24.000 UTC"),
        (None, "time unknown"),
    ],
)
def test_what_no_file_states_of_a_time_is_left_out(seconds: float | None, shown: str) -> None:
    """A year that all lines lack, or a date."""
    assert formatting.instant(seconds) == shown
    assert formatting.instant(seconds, zone="unstated") == shown.removesuffix(" UTC")
