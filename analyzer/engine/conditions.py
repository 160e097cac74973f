"""Compiles `where` conditions on table columns to polars expressions.

ended: signal                  equal
ended: [signal, exited]        one of these
behind: {at_least: 1}          also at_most, above, below
message: {contains: "No space"}  or a list: any of them
type: {matches: "^Unicode"}    a regex, in the linear-time engine of polars
tensorflow: {since: "2.11", before: "2.16"}   versions, compared number by number
frame: {known: true}           not null (false: null)
ended: {not: finished}         also a list; null counts as not
"""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add, and_, or_
from typing import Any

import polars as pl

NUMERIC = ("above", "at_least", "at_most", "below")
_TEXT_OPERATORS = ("contains", "matches")
_VERSIONS = ("since", "before")
_ANY = ("known", "not")

VERSION = r"^\d{1,5}(\.\d{1,5}){0,2}$"
"""Regex of versions in conditions."""
_NUMBERS, _BOUND = 3, 10**5
"""Count of the version numbers that are compared, and the exclusive upper bound of each."""


def operators(type_: str) -> tuple[str, ...]:
    """Return the operators for a column type."""
    own: Mapping[str, tuple[str, ...]] = {"text": (*_TEXT_OPERATORS, *_VERSIONS), "bool": ()}
    return (*own.get(type_, NUMERIC), *_ANY)


def expression(where: Mapping[str, object]) -> pl.Expr:
    """Return the conjunction of all conditions; a null cell fails all but `known: false` and `not`."""
    parts = [part for column, condition in where.items() for part in _parts(pl.col(column), condition)]
    return reduce(and_, parts).fill_null(value=False) if parts else pl.repeat(value=True, n=pl.len())


_IN_PYTHON: Mapping[str, Callable[[Any, Any], bool]] = {
    "at_least": lambda cell, bound: cell is not None and not cell < bound,
    "at_most": lambda cell, bound: cell is not None and cell <= bound,
    "above": lambda cell, bound: cell is not None and not cell <= bound,
    "below": lambda cell, bound: cell is not None and cell < bound,
    "known": lambda cell, known: (cell is not None) == known,
    "not": lambda cell, value: not _is_one_of(cell, value),
}
"""Operator → its evaluation on a cell in Python, equal to that of polars, which sorts NaN last."""


def is_simple(where: Mapping[str, object]) -> bool:
    """Return True if `meets` can evaluate the conditions: none has a regex, a text search or a version."""
    return all(not isinstance(each, Mapping) or _IN_PYTHON.keys() >= each.keys() for each in where.values())


def meets(row: Mapping[str, Any], where: Mapping[str, object]) -> bool:
    """Return True if a row satisfies all conditions, like `expression` but without a query."""
    return all(
        all(_IN_PYTHON[operator](row[column], operand) for operator, operand in condition.items())
        if isinstance(condition, dict)
        else _is_one_of(row[column], condition)
        for column, condition in where.items()
    )


def _is_one_of(cell: object, value: object) -> bool:
    return cell is not None and (cell in value if isinstance(value, list) else cell == value)


def _parts(column: pl.Expr, condition: object) -> list[pl.Expr]:
    if not isinstance(condition, Mapping):
        return [_equal(column, condition)]
    return [_operation(column, operator, operand) for operator, operand in condition.items()]


def _equal(column: pl.Expr, value: object) -> pl.Expr:
    # not `is_in`, which rejects integers for a column of floats
    return reduce(or_, map(column.eq, value)) if isinstance(value, list) else column.eq(value)


def _operation(column: pl.Expr, operator: str, operand: object) -> pl.Expr:
    simple: dict[str, Callable[[], pl.Expr]] = {
        "at_least": lambda: column.ge(operand),
        "at_most": lambda: column.le(operand),
        "above": lambda: column.gt(operand),
        "below": lambda: column.lt(operand),
        "contains": lambda: column.str.contains_any(_list(operand)),
        "matches": lambda: column.str.contains(str(operand)),
        "since": lambda: _version(column).ge(_number(str(operand))),
        "before": lambda: _version(column).lt(_number(str(operand))),
        "known": lambda: column.is_not_null() if operand else column.is_null(),
        "not": lambda: ~_equal(column, operand).fill_null(value=False),
    }
    return simple[operator]()


def _version(column: pl.Expr) -> pl.Expr:
    """Return versions as comparable integers; null for a text that does not begin with a version."""
    texts = (column.str.extract(rf"^v?(?:\d+\.){{{n}}}(\d{{1,5}})") for n in range(_NUMBERS))
    first, *others = (text.cast(pl.Int64).mul(_BOUND ** (_NUMBERS - 1 - n)) for n, text in enumerate(texts))
    return reduce(add, (other.fill_null(0) for other in others), first)


def _number(version: str) -> int:
    numbers = version.split(".")[:_NUMBERS]
    return sum(int(number) * _BOUND ** (_NUMBERS - 1 - n) for n, number in enumerate(numbers))


def _list(operand: object) -> list[str]:
    return [str(each) for each in operand] if isinstance(operand, list) else [str(operand)]
