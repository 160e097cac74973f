"""Rows become frames alike, be they few or many, and whatever a file made of their cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from analyzer.model.findings import Verdict
from analyzer.model.schema import TABLES
from analyzer.tables.builders import DTYPES, Group, frame, frame_of_groups

PLAIN = {"worker": "worker:0", "attempt": 1, "source": "worker-0.log", "line": 7, "time": 1.75e9}
MANY = 1_500


def scalars(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of `scalars`."""
    return frame("scalars", rows)


@pytest.mark.parametrize(
    "odd",
    [
        {"value": 3},
        {"value": float("nan")},
        {"value": -float("inf")},
        {"value": 2**70},
        {"step": 2**63 - 1},
        {"step": 2**63},
        {"step": -(2**400)},
        {"time": float("inf")},
        {"time": float("nan")},
        {"time": 1_750_000_000},
        {"time": 2**70},
        {"time": 10**400},
        {"tag": "a\udc80b"},
        {"tag": Verdict.FAILED},
        {"tag": "lo\0ss \U0001f525"},
        {"worker": None, "line": None},
        {},
    ],
)
def test_few_rows_are_what_many_are(odd: Mapping[str, Any]) -> None:
    """The first rows of a long frame are those of a short one, with what is odd in the first of them."""
    few = scalars({**PLAIN, **odd}, PLAIN)
    many = scalars({**PLAIN, **odd}, *[PLAIN] * MANY)
    assert few.equals(many[:2], null_equal=True)
    assert few.schema == many.schema == {column.name: DTYPES[column.type] for column in TABLES["scalars"]}


@pytest.mark.parametrize(
    "odd", [{"step": 1.5}, {"step": "12"}, {"tag": 5}, {"value": "0.5"}, {"tag": b"loss"}]
)
@pytest.mark.parametrize("more", [1, MANY])
def test_a_cell_of_another_type_is_a_mistake(odd: Mapping[str, Any], more: int) -> None:
    """It is ours, and is not made to fit."""
    with pytest.raises(TypeError):
        scalars({**PLAIN, **odd}, *[PLAIN] * more)


def test_what_no_frame_can_hold_is_null() -> None:
    """Or, in a text, a question mark."""
    made = scalars({**PLAIN, "step": 2**63, "time": float("inf"), "tag": "a\udc80b"})
    assert made.select("step", "time", "tag").rows() == [(None, None, "a?b")]


@pytest.mark.parametrize("more", [0, MANY])
def test_a_group_has_what_its_rows_leave_out(more: int) -> None:
    """And a row that says something else keeps it."""
    groups: list[Group] = [
        ({"worker": "worker:0"}, [{"step": 1}, {"step": 2, "worker": None}]),
        ({}, [{"step": 3}] * (1 + more)),
    ]
    made = frame_of_groups("scalars", groups)
    assert made["worker"][:3].to_list() == ["worker:0", None, None]
    assert made["step"][:3].to_list() == [1, 2, 3]


@pytest.mark.parametrize("more", [0, MANY])
def test_a_column_that_is_not_declared_is_named(more: int) -> None:
    """However many rows there are."""
    with pytest.raises(KeyError, match="scalars has no column colour, shape"):
        scalars({**PLAIN, "shape": 1}, *[PLAIN] * more, {"colour": "red"})
    with pytest.raises(KeyError, match="scalars has no column colour"):
        frame_of_groups("scalars", [({"colour": "red"}, [PLAIN] * (1 + more))])


def test_an_empty_frame_is_the_callers_own() -> None:
    """What one caller does to it, the next one does not see."""
    scalars().insert_column(0, pl.Series("mine", [], dtype=pl.Int64))
    assert scalars().columns == [column.name for column in TABLES["scalars"]]
