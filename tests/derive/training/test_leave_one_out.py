"""The range of all other workers' values."""

from __future__ import annotations

import pytest

from analyzer.derive.training.leave_one_out import range_of_others


@pytest.mark.parametrize(
    "values", [{}, {"a": 1}, {"a": 1, "b": 1}, {"a": 3, "b": 1, "c": 2}, {"a": 1, "b": 5, "c": 5}]
)
def test_it_is_the_least_and_the_largest_of_the_others(values: dict[str, int]) -> None:
    """As computed for each worker from all others."""
    expected = {}
    for worker in values:
        others = [value for other, value in values.items() if other != worker]
        if others:
            expected[worker] = min(others), max(others)
    assert range_of_others(values) == expected
