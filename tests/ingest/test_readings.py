"""Rows are the same rows when a reading holds them as columns."""

from pathlib import Path

import pytest

from analyzer.ingest.readings import Reading
from analyzer.kinds import Kind
from analyzer.model import Source


@pytest.fixture(params=["rows", "columns"])
def reading(request: pytest.FixtureRequest) -> Reading:
    """Three scalars, of which one has no step and one no line, held in either way."""
    source = Source("worker-0.log", Path("worker-0.log"), Kind.LOG, "worker:0")
    reading = Reading(source)
    reading.add("scalars", line=3, tag="loss", step=1, value=0.5)
    reading.add("scalars", line=9, tag="lr", value=0.1)
    reading.add("scalars", tag="loss", step=2, value=0.4)
    reading.add("damage", line=9, what="a line without end")
    if request.param == "columns":
        reading.hold_in_columns("scalars")
    return reading


def test_cells_are_told_row_by_row(reading: Reading) -> None:
    """What a row leaves out is None, and so is what no row has."""
    assert list(reading.cells("scalars", "step", "tag")) == [(1, "loss"), (None, "lr"), (2, "loss")]
    assert list(reading.cells("scalars", "attempt")) == [(None,)] * 3
    assert not list(reading.cells("records", "text"))


def test_rows_are_numbered_by_their_lines(reading: Reading) -> None:
    """What is wrong with the file itself belongs to no life."""
    reading.number(lambda line: 1 + (line >= 9))
    assert list(reading.cells("scalars", "value", "attempt")) == [(0.5, 1), (0.1, 2), (0.4, 1)]
    assert list(reading.cells("damage", "attempt")) == [(None,)]


def test_nothing_is_held_of_a_table_without_rows() -> None:
    """So a reading without progress lines adds no frame."""
    reading = Reading(Source("x.log", Path("x.log"), Kind.LOG))
    reading.hold_in_columns("scalars")
    assert not reading.columns
