"""Rows of tables as text with commas, semicolons or tabs between, below a line that names the columns."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.ingest.logs.entries.columns import CHECKED, columns_of, used_columns

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

SEPARATORS = (b",", b";", b"\t")
_MAX_HEADER_BYTES = 4_000
_COLUMN = re.compile(r"[A-Za-z@_][\w@ .:/()\[\]-]{0,60}")
"""Regex for the name of a column, of which a table that nobody knows has two or more."""


def rows_of_csv(path: Path, max_bytes: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows of a CSV file as entries, each with its first line; none of a larger file.

    There are none unless the header names a message and a time, or the rows show which columns have them.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        first = file.readline(_MAX_HEADER_BYTES)
        separator = max((each.decode() for each in SEPARATORS), key=first.count)
        read_rows = partial(csv.reader, delimiter=separator, strict=False)
        header = next(read_rows([first]), [])
        may_be_table = len(header) > 1 and all(map(_COLUMN.fullmatch, header))
        if not (columns_of(header) or may_be_table) or path.stat().st_size > max_bytes:
            return []
        rows = _numbered(read_rows(file), len(header))
        sample = [*islice(rows, CHECKED)]
        used = used_columns(header, [row for _, row in sample])
        return [
            (line, {field: row[at] for field, at in used.items()})
            for line, row in (chain(sample, rows) if used else ())
        ]


def _numbered(rows: "CsvReader", columns: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each row with so many columns, and the row."""
    above = 1
    for row in rows:
        if len(row) >= columns:
            yield above + 1, row
        above = 1 + rows.line_num
