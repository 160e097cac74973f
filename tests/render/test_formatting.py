"""Words for numbers."""

from __future__ import annotations

import pytest

from analyzer.render import formatting


@pytest.mark.parametrize(
    ("value", "word"), [(0.99, "certain"), (0.9, "strong"), (0.6, "possible"), (0.3, "weak")]
)
def test_certain_is_not_said_lightly(value: float, word: str) -> None:
    """A sixth of such verdicts would be wrong."""
    assert formatting.confidence(value) == word
