"""Combines the readers' rows into the tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from analyzer.ingest.missing_years import complete_years
from analyzer.ingest.platform import checkpoints
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.run import Source, Tables
from analyzer.model.schema import READ
from analyzer.tables.builders import frame, frame_of_columns, frame_of_groups, joined

if TYPE_CHECKING:
    import polars as pl


def assemble(outputs: Sequence[SourceRows], sources: Sequence[Source]) -> Tables:
    """Return the tables of `schema.READ`; worker and attempt are set only where a file states them."""
    complete_years(outputs)
    checkpoints.report_missing(outputs, sources)
    return {table: _table(table, outputs) for table in READ}


def _table(table: str, outputs: Sequence[SourceRows]) -> pl.DataFrame:
    """Build one table from the rows of all sources, in their order."""
    if table == "sources":
        return frame(table, map(_source_row, outputs))
    frames: list[pl.DataFrame] = []
    for in_columns, group in groupby(outputs, lambda output: table in output.columns):
        named = [({"source": each.source.name}, each) for each in group]
        if in_columns:
            frames += [frame_of_columns(table, each.columns[table], name) for name, each in named]
        else:
            rows = ((name, each.rows[table]) for name, each in named if table in each.rows)
            frames.append(frame_of_groups(table, rows))
    return joined(table, frames)


def _source_row(output: SourceRows) -> dict[str, Any]:
    source = output.source
    return {
        "source": source.name,
        "kind": source.kind.value,
        "worker": source.worker,
        "attempt": source.attempt,
        "bytes": output.bytes,
        "lines": output.lines,
        "first_time": output.first_time,
        "last_time": output.last_time,
        "read": output.read,
        "reason": output.reason,
        "thinned": output.thinned,
    }
