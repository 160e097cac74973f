"""Rows are the same rows when a reading holds them as columns."""

from pathlib import Path

import pytest

from analyzer.ingest import reader_output
from analyzer.ingest.assembly import assemble
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind


@pytest.fixture(params=["rows", "columns"])
def output(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SourceRows:
    """Three scalars, of which one has no step and one no line, held in either way."""
    monkeypatch.setattr(reader_output, "MIN_COLUMN_ROWS", 1)
    source = Source("worker-0.log", Path("worker-0.log"), Kind.LOG, "worker:0")
    output = SourceRows(source)
    output.add("scalars", line=3, tag="loss", step=1, value=0.5)
    output.add("scalars", line=9, tag="lr", value=0.1)
    output.add("scalars", tag="loss", step=2, value=0.4)
    output.add("damage", line=9, what="a line without end")
    if request.param == "columns":
        output.hold_in_columns(1)
    return output


def test_cells_are_told_row_by_row(output: SourceRows) -> None:
    """What a row leaves out is None, and so is what no row has."""
    assert list(output.cells("scalars", "step", "tag")) == [(1, "loss"), (None, "lr"), (2, "loss")]
    assert list(output.cells("scalars", "attempt")) == [(None,)] * 3
    assert not list(output.cells("records", "text"))


def test_they_become_the_same_frame(output: SourceRows) -> None:
    """With their source; whose they are is told by identify."""
    scalars = assemble([output], [output.source])["scalars"]
    assert scalars.select("worker", "attempt", "source", "line", "tag", "step", "value").rows() == [
        (None, None, "worker-0.log", 3, "loss", 1, 0.5),
        (None, None, "worker-0.log", 9, "lr", None, 0.1),
        (None, None, "worker-0.log", None, "loss", 2, 0.4),
    ]


def test_a_cell_that_is_not_declared_is_a_mistake_of_ours(output: SourceRows) -> None:
    """In a column too, where no row shows it."""
    output.rows.get("scalars", [{}])[0]["colour"] = "red"
    output.columns = {table: {**own, "colour": ["red"] * 3} for table, own in output.columns.items()}
    with pytest.raises(KeyError, match="scalars has no column colour"):
        assemble([output], [output.source])


def test_few_rows_stay_rows() -> None:
    """A frame for each of many small logs takes longer than one of all their rows."""
    output = SourceRows(Source("x.log", Path("x.log"), Kind.LOG))
    output.add("scalars", line=1, tag="loss", value=0.5)
    output.hold_in_columns(1)
    assert not output.columns
