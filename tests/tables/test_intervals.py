"""Unions, differences and lengths of intervals."""

from __future__ import annotations

import pytest

from analyzer.tables.intervals import Interval, difference, seconds_within, union


def test_a_union_is_in_order_and_without_overlap() -> None:
    """What touches is one; with a gap, so is what lies that near."""
    assert union([(5, 6), (0, 1), (1, 2), (3, 5)]) == [(0, 2), (3, 6)]
    assert union([(0, 9), (1, 2)]) == [(0, 9)]
    assert union([(0, 1), (2, 3), (5, 6)], gap=1) == [(0, 3), (5, 6)]


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        ([], [(0, 4), (6, 9)]),
        ([(1, 2)], [(0, 1), (2, 4), (6, 9)]),
        ([(3, 7)], [(0, 3), (7, 9)]),
        ([(0, 4), (8, 9)], [(6, 8)]),
        ([(-1, 10)], []),
    ],
)
def test_a_difference_leaves_what_is_not_taken(taken: list[Interval], left: list[Interval]) -> None:
    """Cut at both ends, in the middle, and over several intervals."""
    assert difference([(0, 4), (6, 9)], taken) == left


def test_seconds_within_two_times_are_cut_at_both() -> None:
    """Intervals outside count nothing."""
    intervals = [(0.0, 2.0), (3.0, 5.0), (6.0, 9.0)]
    assert seconds_within(intervals, 1.0, 4.0) == 2.0
    assert seconds_within(intervals, 3.5, 4.5) == 1.0
    assert seconds_within(intervals, 5.0, 6.0) == 0.0
    assert seconds_within(intervals, -1.0, 20.0) == 7.0
