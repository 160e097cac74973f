"""Looks up single log lines by number."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

Line = tuple[int, str]


class Lines:
    """The recorded lines of some sources, indexed once."""

    def __init__(self, records: pl.DataFrame, sources: Collection[str]) -> None:
        wanted = records.filter(pl.col("source").is_in(list(sources)))
        parts = wanted.select("source", "line", "last_line", "text").partition_by("source", as_dict=True)
        self._records = {str(source): part.sort("line") for (source,), part in parts.items()}
        self._starts = {source: part["line"].to_list() for source, part in self._records.items()}

    def above(self, source: str | None, line: int, most: int) -> list[Line]:
        """Return the last recorded lines above a line."""
        records = self._records.get(source or "")
        if records is None:
            return []
        place = bisect_left(self._starts[source or ""], line)
        before = records.slice(max(place - most, 0), min(place, most)).to_dicts()
        return [each for record in before for each in numbered(record) if each[0] < line][-most:]

    def at(self, source: str | None, line: int) -> str:
        """Return the text of a line, empty if it was not recorded."""
        records = self._records.get(source or "")
        place = bisect_right(self._starts.get(source or "", []), line)
        if records is None or not place:
            return ""
        return dict(numbered(records.row(place - 1, named=True))).get(line, "")


def numbered(record: Mapping[str, Any]) -> list[Line]:
    """Yield (number, line) of a record; only the first line if the record's middle was cut."""
    first, lines = record["line"], record["text"].split("\n")
    known = len(lines) if len(lines) == record["last_line"] - first + 1 else 1
    return [(first + k, text) for k, text in enumerate(lines[:known])]
