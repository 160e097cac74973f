"""`when` is a small language of its own, parsed and never evaluated as code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.expressions import parse


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a", True), ("not a", False), ("a and b", False), ("a or b", True), ("not (a and b)", True),
        ("b or a and b", False), ("(b or a) and a", True), ("not b and a", True),
    ],
)  # fmt: skip
def test_and_binds_tighter_than_or_and_not_tightest(text: str, holds: bool) -> None:
    """As everywhere."""
    assert parse(text).holds({"a": True, "b": False}) is holds


@pytest.mark.parametrize(
    "text", ["", "a and", "and a", "a b", "(a", "a)", "a & b", "__import__('os')", "a.b", "not"]
)
def test_anything_else_is_refused(text: str) -> None:
    """Code among it."""
    with pytest.raises(ValueError, match=r".+"):
        parse(text)


def test_what_stands_under_not_is_not_wanted() -> None:
    """It is an absence that is asked for."""
    assert parse("a and not (b or c) or d").wanted == {"a", "d"}


@given(st.text(alphabet="ab ()notrd_", max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    """It is an expression, or a ValueError."""
    try:
        parse(text)
    except ValueError:
        return


@pytest.mark.parametrize(
    ("text", "supporting"),
    [
        ("a and not c", {"a"}),
        ("(a and b) or c", {"a", "b"}),
        ("(a and c) or b", {"b"}),
        ("a and (b or c)", {"a", "b"}),
        ("c", set()),
    ],
)
def test_only_true_branches_support_an_expression(text: str, supporting: set[str]) -> None:
    """What a branch that does not hold names is no evidence."""
    assert parse(text).supporting({"a": True, "b": True, "c": False}) == supporting
