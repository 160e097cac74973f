"""Combines the readers' rows into the tables, and rejects a run without any readable input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.ingest.local_times import convert_local_times
from analyzer.ingest.missing_dates import complete_dates
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
    complete_dates(outputs)
    convert_local_times(outputs)
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
    same = ("bytes", "lines", "first_time", "last_time", "time_zone", "read", "reason", "thinned")
    return {
        "source": source.name,
        "kind": source.kind_name or source.kind.value,
        "worker": source.worker,
        "attempt": source.attempt,
        **{name: getattr(output, name) for name in same},
    }


def require_readable(run: RunDir, sources: pl.DataFrame) -> None:
    """Check that at least one source could be read and is not empty.

    Raises:
        NothingReadable: none could be, or all are empty.
    """
    opened, count = sources.filter(sources["read"] != "skipped"), len(run.sources)
    if not opened.height:
        reasons = sorted(set(sources["reason"].to_list()))
        which = "nothing in it" if count == 1 else f"none of its {count} files"
        raise NothingReadable(f"{run.name}: {which} could be read ({'; '.join(reasons[:3])})")
    if not opened["bytes"].sum():
        what = "the file is empty" if count == 1 else f"all {count} files are empty"
        if opened.height < count:
            what = f"of its {count} files, only {opened.height} could be read, and nothing is in them"
        raise NothingReadable(f"{run.name}: {what}")
