"""`where`: conditions on the columns of a table, as polars expressions.

ended: signal                  equal
ended: [signal, exited]        one of these
behind: {at_least: 1}          also at_most, above, below
message: {contains: "No space"}  or a list: any of them
type: {matches: "^Unicode"}    a regex, in the linear-time engine of polars
frame: {known: true}           the files tell it (false: they do not)
ended: {not: finished}         also a list; null counts as not
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_

import polars as pl

from analyzer.schema import Column

_NUMERIC = {"at_least", "at_most", "above", "below"}
OPERATORS = frozenset({*_NUMERIC, "contains", "matches", "known", "not"})


def expression(where: Mapping[str, object]) -> pl.Expr:
    """All conditions together, never null: a cell that the files do not tell satisfies none of them."""
    parts = [part for column, condition in where.items() for part in _parts(pl.col(column), condition)]
    return reduce(and_, parts).fill_null(value=False) if parts else pl.repeat(value=True, n=pl.len())


def _parts(column: pl.Expr, condition: object) -> list[pl.Expr]:
    if not isinstance(condition, Mapping):
        return [_equal(column, condition)]
    return [_operation(column, operator, operand) for operator, operand in condition.items()]


def _equal(column: pl.Expr, value: object) -> pl.Expr:
    return column.is_in(value) if isinstance(value, list) else column.eq(value)


def _operation(column: pl.Expr, operator: str, operand: object) -> pl.Expr:
    simple: dict[str, Callable[[], pl.Expr]] = {
        "at_least": lambda: column.ge(operand),
        "at_most": lambda: column.le(operand),
        "above": lambda: column.gt(operand),
        "below": lambda: column.lt(operand),
        "contains": lambda: column.str.contains_any(_list(operand)),
        "matches": lambda: column.str.contains(str(operand)),
        "known": lambda: column.is_not_null() if operand else column.is_null(),
        "not": lambda: ~_equal(column, operand).fill_null(value=False),
    }
    return simple[operator]()


def _list(operand: object) -> list[str]:
    return [str(each) for each in operand] if isinstance(operand, list) else [str(operand)]


def fault(column: Column | None, condition: object) -> str | None:
    """What is wrong with a condition on a column, or None."""
    if column is None:
        return "is no column of this table"
    values = condition.values() if isinstance(condition, Mapping) else [condition]
    if isinstance(condition, Mapping):
        if unknown := [key for key in condition if key not in OPERATORS]:
            return f"cannot be tested with `{unknown[0]}`; there are {', '.join(sorted(OPERATORS))}"
        if column.type in {"text", "bool"} and _NUMERIC & condition.keys():
            return "holds no numbers to compare"
        if "matches" in condition:
            return _regex_fault(str(condition["matches"]))
        values = [value for key, value in condition.items() if key in _NUMERIC | {"not"}]
    return next((found for value in values if (found := _type_fault(column, value))), None)


def _type_fault(column: Column, value: object) -> str | None:
    wanted: dict[str, tuple[type, ...]] = {
        "text": (str,), "bool": (bool,), "int": (int,), "number": (int, float), "time": (int, float),
    }  # fmt: skip
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, wanted[column.type]) or (isinstance(each, bool) and column.type != "bool"):
            return f"holds {column.type}, not `{each}`"
    return None


def _regex_fault(pattern: str) -> str | None:
    try:
        pl.Series(["x"]).str.contains(pattern)
        re.compile(pattern)
    except (pl.exceptions.ComputeError, re.error) as error:
        return f"has a pattern that is no regex: {error}"
    return None
