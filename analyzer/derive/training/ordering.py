"""Orders rows by when they were printed.

Lines order rows within one source. Across sources (a worker's stdout and stderr) only timestamps can, and
often there are none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.tables.grouping import grouped
from analyzer.tables.line_numbers import line_numbers

Row = Mapping[str, Any]
"""A table row with `source`, `line` and `time`, or with the bounds `near` and `until` of its time."""

LastProgress = Mapping[tuple[str, int], Sequence[Row]]
"""(worker, attempt) → the last progress line in each of its logs, with the highest epoch and step there.

`reached` is the first of the lines at its end that name one step: programs repeat it with their results."""


def line_at(record: Row, position: int) -> int:
    """Return the source line of a character offset in a record's text; its first line if that is unknown."""
    return line_numbers(record)[record["text"].count("\n", 0, position)] or int(record["line"])


def dated(records: pl.DataFrame) -> pl.DataFrame:
    """Add `until`, the latest time at which each record can have been printed.

    `until` is the record's own time, else the next timestamp in the source; `near` is the earliest time.
    """
    return records.with_columns(until=pl.col("time").backward_fill().over("source"))


def comes_after(row: Row, other: Row) -> bool | None:
    """Return True if `row` was printed after `other`, False if not, None if unknown."""
    if row["source"] == other["source"] and row["line"] is not None and other["line"] is not None:
        return bool(row["line"] > other["line"])
    if _precedes(other, row):
        return True
    return False if _precedes(row, other) else None


def is_later(row: Row, other: Row) -> bool:
    """Return True if `row` was printed after `other` and its time is not earlier.

    Where stdout and stderr share a file, what a program printed through a buffer stands below later lines.
    """
    return bool(comes_after(row, other)) and not _is_dated_before(row, other)


def _is_dated_before(row: Row, other: Row) -> bool:
    """Return True if the time of `row` is earlier by more than it was cut: to milliseconds or to seconds."""
    time, later = row["time"], other["time"]
    if time is None or later is None:
        return False
    return bool(time + (1.0 if time == int(time) else 0.001) <= later)


def _precedes(row: Row, other: Row) -> bool:
    latest = row["until"] if "until" in row else row["time"]
    earliest = other["near"] if "near" in other else other["time"]
    return latest is not None and earliest is not None and latest < earliest


def last_progress(scalars: pl.DataFrame) -> dict[tuple[str, int], list[Row]]:
    """Return (worker, attempt) → the last progress line of each of its logs."""
    lines = scalars.select("worker", "attempt", "source", "line", "time", "epoch", "step").drop_nulls("line")
    moved = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).last()) for name in ("epoch", "step"))
    moved_last = pl.col("line").filter(moved).max().fill_null(-1)
    last = lines.group_by("worker", "attempt", "source", maintain_order=True).agg(
        pl.col("line", "epoch", "step").max(),
        reached=pl.col("line").filter(pl.col("line") > moved_last).min(),
        near=pl.col("time").max(),
        until=pl.col("time").last(),
    )
    return grouped(((row["worker"], row["attempt"]), row) for row in last.iter_rows(named=True))


class Excerpts:
    """Parts of logs that a post shows one below the other; a later one may be of another run."""

    def __init__(self, facts: pl.DataFrame, scalars: pl.DataFrame) -> None:
        """Read where further parts begin from `facts`, and from `scalars` which lines show progress."""
        begins = facts.filter(pl.col("line").is_not_null(), key="excerpt_begins")
        self._begins: dict[str, list[int]] = grouped(begins.sort("line").select("source", "line").iter_rows())
        shown = scalars.filter(pl.col("source").is_in([*self._begins])).drop_nulls("line")
        self._progress: dict[str, list[int]] = grouped(shown.select("source", "line").iter_rows())

    def is_last_of_its_own(self, source: str, line: int) -> bool:
        """Return True if only a later part of the source shows progress below a line."""
        end = next((begin for begin in self._begins.get(source, ()) if begin > line), None)
        return end is not None and not any(line < at < end for at in self._progress.get(source, ()))


def last_telling(records: Sequence[Row]) -> Row | None:
    """Return the last record that says something by itself; None if there is none.

    An indented line does not, nor one that opens or closes a bracket.
    """
    telling = (row for row in reversed(records) if not _is_fragment(row["text"]))
    return max(telling, key=lambda row: row["near"] or 0.0, default=None)


def _is_fragment(line: str) -> bool:
    return line[:1].isspace() or line.endswith(("{", "[", "(")) or not line.strip("{}[](),; ")


def printed_after_end(rows: pl.DataFrame, lifetimes: pl.DataFrame) -> pl.Series:
    """Return for each row whether it was certainly printed after its worker reported completion."""
    ended = lifetimes.drop_nulls("end_line").select(
        "worker", source="end_source", line="end_line", near=pl.lit(None), until="end_time"
    )
    ends = {row["worker"]: row for row in ended.iter_rows(named=True)}
    places = rows.select(pl.col("^(worker|source|line|time|near)$")).iter_rows(named=True)
    behind = [bool((end := ends.get(row["worker"])) and comes_after(row, end)) for row in places]
    return pl.Series("printed_after_end", behind, dtype=pl.Boolean)
