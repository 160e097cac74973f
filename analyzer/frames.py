"""Rows → the declared frames. It imports polars, which takes longer than all else that a run imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

import polars as pl

from analyzer.schema import LARGEST_INT, TABLES, Column

DTYPES: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "int": pl.Int64(),
    "number": pl.Float64(),
    "time": pl.Float64(),
    "bool": pl.Boolean(),
}
"""The types that a column of `schema.TABLES` may have."""


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as the declared frame; a key that is left out is null, an undeclared one raises KeyError."""
    return frame_of_groups(table, [({}, list(rows))])


def frame_of_groups(
    table: str, groups: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
) -> pl.DataFrame:
    """The same of several groups of rows, each with what its rows have where they say nothing else.

    Raises:
        KeyError: a row has a column that is not declared.

    """
    columns = TABLES[table]
    held = [(usual, rows) for usual, rows in groups if rows]
    if not held:
        return _empty(table)
    cells: dict[str, list[Any]] = {column.name: [] for column in columns}
    for usual, rows in held:
        used = set(chain.from_iterable(rows))
        if not used <= cells.keys():
            raise KeyError(f"{table} has no column {', '.join(sorted(used - cells.keys()))}")
        for name, own in cells.items():
            else_ = usual.get(name)
            own += [row.get(name, else_) for row in rows] if name in used else [else_] * len(rows)
    return pl.DataFrame({column.name: _series(column, cells[column.name]) for column in columns})


def _empty(table: str) -> pl.DataFrame:
    return pl.DataFrame(schema={column.name: DTYPES[column.type] for column in TABLES[table]})


def frame_of_columns(
    table: str, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]
) -> pl.DataFrame:
    """Columns of one length as the declared frame, with constants; what neither holds is null."""
    height = max(map(len, columns.values()), default=0)
    made = [
        _series(column, columns[column.name])
        if column.name in columns
        else _series(column, [constants.get(column.name)]).new_from_index(0, height)
        for column in TABLES[table]
    ]
    return pl.DataFrame(made)


def joined(table: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames of one table as one."""
    return pl.concat(frames) if frames else frame(table, [])


def _series(column: Column, cells: Sequence[Any]) -> pl.Series:
    """One column; files can hold numbers, times and texts that no frame can: those become null, or `?`."""
    try:
        series = pl.Series(column.name, cells, dtype=DTYPES[column.type])
    except (TypeError, OverflowError, UnicodeEncodeError):
        series = pl.Series(column.name, [_fitting(cell) for cell in cells], dtype=DTYPES[column.type])
    if column.type == "time" and not isfinite(series.sum()):
        return series.set(~series.is_finite(), None)
    return series


def _fitting(cell: object) -> object:
    if isinstance(cell, int) and not -LARGEST_INT <= cell <= LARGEST_INT:
        return None
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
