"""The numbers of a record's lines."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.tables.line_numbers import line_numbers


def record(text: str, last_line: int, lines: str | None = None) -> dict[str, Any]:
    """Return a record that begins at line 7."""
    return {"line": 7, "last_line": last_line, "lines": lines, "text": text}


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        (record("a", 7), [7]),
        (record("a\nb\nc", 9), [7, 8, 9]),
        (record("a\nb\nc\nd", 20, "7,12,19-20"), [7, 12, 19, 20]),
        (record("a\nb\nc", 9, "7,7,9"), [7, 7, 9]),
        (record("a\nb … 9000 characters cut … c\nd", 900), [7, None, 900]),
        (record("a\nb … 9000 characters cut … c\nd", 900, "7,15,900"), [7, None, 900]),
        (record("a … 9000 characters cut … c\nd", 900), [7, 900]),
        (record("a\nb\nc", 20), [7, None, None]),
    ],
)
def test_each_line_has_its_own_number(given: dict[str, Any], numbers: list[int | None]) -> None:
    """Listed ones count; without them, lines follow one another, but for a cut."""
    assert line_numbers(given) == numbers
