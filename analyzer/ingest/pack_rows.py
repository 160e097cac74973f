"""The output of an installed package's reader: each row is checked when it is added."""

from collections.abc import Callable, Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

from analyzer.ingest.reader_output import SourceRows, is_time
from analyzer.model.errors import did_you_mean
from analyzer.model.schema import LARGEST_INT, READ, TABLES, Column
from analyzer.model.task_names import is_task

READER_TABLES = tuple(table for table in READ if table != "sources")
"""The tables that a reader adds rows to; a row of `sources` is made for each file."""


class WrongRowError(ValueError):
    """A reader added a row that no table takes; the message says why."""


class PackRows(SourceRows):
    """The rows of one source that the reader of an installed package reads."""

    def add(self, table: str, **cells: Any) -> None:  # noqa: ANN401 - each cell is checked
        """Add one row, and count the processor time that the reader took so far.

        Raises:
            OverBudgetError: the run's budget of processor time is spent.
            WrongRowError: there is no such table or column, or a cell does not fit its column.
        """
        self.budget.spend()
        _check(table, cells)
        super().add(table, **cells)

    def skip(self, reason: str) -> None:
        """Mark the source as not read."""
        super().skip(str(reason))


def _check(table: str, cells: Mapping[str, object]) -> None:
    """Check a row against the columns of its table.

    Raises:
        WrongRowError: it does not fit.
    """
    if table not in READER_TABLES:
        what = "is derived, and no reader adds to it" if table in TABLES else "is no table that readers fill"
        raise WrongRowError(f"`{table}` {what}{did_you_mean(table, READER_TABLES)}")
    columns = {column.name: column for column in TABLES[table]}
    for name, cell in cells.items():
        if name not in columns:
            raise WrongRowError(f"{table} has no column `{name}`{did_you_mean(name, columns)}")
        if cell is not None and (expected := _misfit(columns[name], cell)):
            raise WrongRowError(f"`{name}` of {table} is to be {expected}, not `{str(cell)[:60]}`")


def _misfit(column: Column, cell: object) -> str:
    """Return what the column takes, such as `one of …`, if the cell is something else; otherwise empty."""
    if column.name == "worker":
        is_right = isinstance(cell, str) and is_task(cell)
        return "" if is_right else "a task like `worker:1`, `chief:0`, `ps:0` or `evaluator:0`"
    fits, expected = _TYPES[column.type]
    if not fits(cell):
        return expected
    if column.values and cell not in column.values:
        return f"one of {', '.join(column.values)}"
    return "1 or more" if column.name in {"line", "attempt"} and cell < 1 else ""  # type: ignore[operator]


def _is_number(cell: object) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool)


_TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "text": (lambda cell: isinstance(cell, str), "a text"),
    "int": (
        lambda cell: (
            isinstance(cell, Integral) and not isinstance(cell, bool) and abs(int(cell)) <= LARGEST_INT
        ),
        "a whole number of 64 bits",
    ),
    "number": (_is_number, "a number"),
    "time": (
        lambda cell: _is_number(cell) and isfinite(cell) and is_time(cell),
        "seconds since 1970-01-01 UTC",
    ),
    "bool": (lambda cell: isinstance(cell, bool), "True or False"),
}
"""Column type → (whether a cell fits it, what it is to be)."""
