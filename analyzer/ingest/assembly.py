"""Combines the readers' rows into the tables, and rejects a run without any readable input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.ingest.missing_years import complete_years
from analyzer.ingest.platform import checkpoints
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.errors import NothingReadable
from analyzer.model.run import RunDir, Source, Tables
from analyzer.model.schema import READ
from analyzer.tables.builders import frame, frame_of_groups

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
    held = ((each, each.columns.get(table) or each.rows.get(table, [])) for each in outputs)
    return frame_of_groups(table, (({"source": each.source.name}, rows) for each, rows in held))


def _source_row(output: SourceRows) -> dict[str, Any]:
    source = output.source
    return {
        "source": source.name,
        "kind": source.kind_name or source.kind.value,
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


def require_readable(run: RunDir, sources: pl.DataFrame) -> None:
    """Check that at least one source could be read and is not empty.

    Raises:
        NothingReadable: none could be, or all are empty.

    """
    opened = sources.filter(sources["read"] != "skipped")
    if not opened.height:
        reasons = sorted(set(sources["reason"].to_list()))
        count = len(run.sources)
        which = "nothing in it" if count == 1 else f"none of its {count} files"
        raise NothingReadable(f"{run.name}: {which} could be read ({'; '.join(reasons[:3])})")
    if not opened["bytes"].sum():
        raise NothingReadable(f"{run.name}: {_all_empty(opened.height, len(run.sources))}")


def _all_empty(opened: int, files: int) -> str:
    if opened < files:
        return f"of its {files} files, only {opened} could be read, and nothing is in them"
    return "the file is empty" if files == 1 else f"all {files} files are empty"
