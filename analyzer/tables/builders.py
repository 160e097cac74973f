"""Builds the frames of the schema from rows. Imports polars, which takes longer than all other imports."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain
from math import isfinite
from typing import Any

import polars as pl

from analyzer.model.schema import LARGEST_INT, TABLES, Column

DTYPES: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "int": pl.Int64(),
    "number": pl.Float64(),
    "time": pl.Float64(),
    "bool": pl.Boolean(),
}
"""The types that a column of `schema.TABLES` may have."""
_NULL = type(None)
_CELLS: Mapping[str, frozenset[type]] = {
    "text": frozenset({str, _NULL}),
    "int": frozenset({int, _NULL}),
    "number": frozenset({float, int, _NULL}),
    "time": frozenset({float, int, _NULL}),
    "bool": frozenset({bool, _NULL}),
}
"""Column type → the Python types of cells that polars accepts without conversion."""
_MAX_ROWWISE = 1_000
"""Number of rows up to which a frame is built row by row, which is faster for few rows."""

Columns = Mapping[str, Sequence[Any]]
Group = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]] | Columns]
"""Default cells of a group of rows, and the rows, or their columns of one length."""


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Build the frame of a table from rows; missing cells are null, an undeclared column raises KeyError."""
    return frame_of_groups(table, [({}, list(rows))])


def frame_of_groups(table: str, groups: Iterable[Group]) -> pl.DataFrame:
    """Build the frame of a table from groups of default cells and rows; missing cells are null.

    Raises:
        KeyError: a row or a default names a column that is not declared.
    """
    held = [(usual, rows) for usual, rows in groups if rows]
    in_rows = [(usual, rows) for usual, rows in held if not isinstance(rows, Mapping)]
    names = chain.from_iterable([rows] if isinstance(rows, Mapping) else rows for _, rows in held)
    _expect_declared(table, set[str]().union(*(usual for usual, _ in held), *names))
    if not held:
        return pl.DataFrame([{}], schema=_dtypes(table)).clear()  # a fifth of the time without a row
    is_small = len(in_rows) == len(held) and sum(len(rows) for _, rows in held) <= _MAX_ROWWISE
    few = _of_rows(table, in_rows) if is_small else None
    return _of_cells(table, held) if few is None else few


def _expect_declared(table: str, names: AbstractSet[str]) -> None:
    if unknown := names - _dtypes(table).keys():
        raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")


@cache
def _dtypes(table: str) -> Mapping[str, pl.DataType]:
    return {column.name: DTYPES[column.type] for column in TABLES[table]}


@cache
def _fits(table: str) -> Mapping[str, frozenset[type]]:
    return {column.name: _CELLS[column.type] for column in TABLES[table]}


@cache
def _times(table: str) -> Sequence[str]:
    return [column.name for column in TABLES[table] if column.type == "time"]


def _of_rows(
    table: str, groups: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
) -> pl.DataFrame | None:
    """Build the frame row by row; None if a cell does not fit its column."""
    fits = _fits(table)
    rows = [{**usual, **row} for usual, own in groups for row in own]
    if not all(type(cell) in fits[name] for row in rows for name, cell in row.items()):
        return None
    try:
        if not all(isfinite(row.get(name) or 0.0) for name in _times(table) for row in rows):
            return None
        return pl.DataFrame(rows, schema=_dtypes(table))
    except (pl.exceptions.PolarsError, OverflowError, UnicodeEncodeError):
        return None


def _of_cells(table: str, groups: Sequence[Group]) -> pl.DataFrame:
    """Build the frame column by column, replacing cells that do not fit."""
    cells: dict[str, list[Any]] = {column.name: [] for column in TABLES[table]}
    for usual, rows in groups:
        columns = rows if isinstance(rows, Mapping) else _columns_of(rows, usual)
        height = len(next(iter(columns.values()))) if isinstance(rows, Mapping) else len(rows)
        for name, own in cells.items():
            own += columns[name] if name in columns else [usual.get(name)] * height
    return pl.DataFrame([_series(column, cells[column.name]) for column in TABLES[table]])


def _columns_of(rows: Sequence[Mapping[str, Any]], usual: Mapping[str, Any]) -> Columns:
    defaults = {name: usual.get(name) for name in dict.fromkeys(chain.from_iterable(rows))}
    return {name: [row.get(name, default) for row in rows] for name, default in defaults.items()}


def joined(table: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate frames of one table, with one chunk per column: later stages sort and group often."""
    return pl.concat(frames, rechunk=True) if frames else frame(table, [])


def _series(column: Column, cells: Sequence[Any]) -> pl.Series:
    """Build one column; numbers and times that do not fit become null, characters that do not fit `?`."""
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
