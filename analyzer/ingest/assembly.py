"""Readings → the tables, once all sources are read: what one of them says may be about another."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import TYPE_CHECKING, Any

from analyzer.ingest import restarts
from analyzer.ingest.platform import checkpoints, packages
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.worker_identity import attribute
from analyzer.model.run import Source, Tables
from analyzer.model.schema import READ, TABLES
from analyzer.tables.builders import frame, frame_of_columns, frame_of_groups, joined

if TYPE_CHECKING:
    import polars as pl


def assemble(outputs: Sequence[SourceRows], sources: Sequence[Source]) -> Tables:
    """The tables of `schema.READ`; each reading is given to its worker and attempt first."""
    attribute(outputs)
    restarts.number(outputs)
    packages.add_framework_versions(outputs)
    checkpoints.report_missing(outputs, sources)
    return {table: _table(table, outputs) for table in READ}


def _table(table: str, outputs: Sequence[SourceRows]) -> pl.DataFrame:
    """One table of all readings, in their order."""
    if table == "sources":
        return frame(table, map(_source_row, outputs))
    names = {column.name for column in TABLES[table]}
    frames: list[pl.DataFrame] = []
    for in_columns, group in groupby(outputs, lambda output: table in output.columns):
        if in_columns:
            frames += [frame_of_columns(table, each.columns[table], _own(names, each)) for each in group]
        else:
            rows = ((_own(names, each), each.rows[table]) for each in group if table in each.rows)
            frames.append(frame_of_groups(table, rows))
    return joined(table, frames)


def _own(names: AbstractSet[str], output: SourceRows) -> dict[str, Any]:
    """What all rows of a reading have in common, of the columns of a table."""
    source = output.source
    place = {"worker": source.worker, "attempt": source.attempt, "source": source.name}
    return {name: value for name, value in place.items() if name in names}


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
