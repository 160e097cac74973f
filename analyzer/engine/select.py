"""Selects the rows of all signals of all rules, with one query per table."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, reduce
from typing import Any

import polars as pl

from analyzer.engine.conditions import expression, is_simple, meets
from analyzer.engine.rule_types import RulePack, Signal
from analyzer.model.run import Tables
from analyzer.tables.grouping import grouped

Row = Mapping[str, Any]
RowsByWorker = Mapping[str, list[Row]]
_FEW_ROWS = 64
"""Maximum number of rows on which Python evaluates conditions faster than polars plans a query."""


def select(pack: RulePack, tables: Tables) -> dict[str, dict[str, RowsByWorker]]:
    """Return rule → signal → worker → the rows that satisfy it."""
    found: dict[str, dict[str, RowsByWorker]] = {rule.id: {} for rule in pack.rules}
    by_table: dict[str, list[tuple[str, str, Signal]]] = {}
    matched = cache(lambda: set(tables["matches"]["pattern"].to_list()))
    for rule in pack.rules:
        for signal in rule.signals.values():
            if signal.pattern and signal.pattern.id not in matched():
                found[rule.id][signal.name] = {}
            else:
                by_table.setdefault(signal.table, []).append((rule.id, _key(signal), signal))
    frames = [tables[table] for table in by_table]  # all before any row: making one takes much memory
    for frame, signals in zip(frames, by_table.values(), strict=True):
        for (rule_id, _, signal), rows in zip(signals, _rows_of(frame, signals), strict=True):
            found[rule_id][signal.name] = rows
    return found


def _rows_of(table: pl.DataFrame, signals: Sequence[tuple[str, str, Signal]]) -> Iterator[RowsByWorker]:
    """Yield worker → rows for each signal (rule, key, signal) of a table, in their order."""
    numbers = _numbers(table, {key: signal for _, key, signal in signals})
    wanted = sorted(set().union(*numbers.values()))
    rows = dict(zip(wanted, table[wanted].iter_rows(named=True), strict=True))
    shared: dict[tuple[tuple[int, ...], str], RowsByWorker] = {}
    for _, key, signal in signals:
        chosen = tuple(numbers[key])
        if signal.pattern:
            yield _by_worker(signal, (_with_captures(rows[number]) for number in chosen))
            continue
        place = chosen, signal.who  # of many workers, many signals choose the same rows
        if place not in shared:
            shared[place] = _by_worker(signal, (rows[number] for number in chosen))
        yield shared[place]


def _with_captures(row: Row) -> Row:
    captures = json.loads(row["captures"])
    return {**row, **captures} if captures else row


def _by_worker(signal: Signal, rows: Iterable[Row]) -> RowsByWorker:
    return grouped((row.get(signal.who) or "", row) for row in rows)


def _numbers(table: pl.DataFrame, signals: Mapping[str, Signal]) -> dict[str, Iterable[int]]:
    """Return signal → row numbers in the table of the rows that satisfy it."""
    none: dict[str, Iterable[int]] = dict.fromkeys(signals, ())
    if not table.height:
        return none
    values = cache(lambda column: frozenset(table[column].to_list()))
    possible = {name: signal for name, signal in signals.items() if _may_match(signal.where, values)}
    few = _numbers_of_few(table, possible) if table.height <= _FEW_ROWS else {}
    wanted = [
        _row_filter(signal).arg_true().implode().alias(name)
        for name, signal in possible.items()
        if name not in few
    ]
    found = table.select_seq(wanted)  # a Python list of each would take ten times its memory
    return none | few | {name: found[name][0] for name in found.columns}


def _numbers_of_few(table: pl.DataFrame, signals: Mapping[str, Signal]) -> dict[str, Iterable[int]]:
    """Return signal → row numbers, for the signals whose conditions Python can evaluate."""
    rows = list(enumerate(table.iter_rows(named=True)))
    return {
        name: [
            n
            for n, row in rows
            if meets(row, signal.where) and not any(meets(row, unless) for unless in signal.unless)
        ]
        for name, signal in signals.items()
        if all(map(is_simple, (signal.where, *signal.unless)))
    }


def _may_match(where: Mapping[str, object], values: Callable[[str], AbstractSet[object]]) -> bool:
    """Return False if an equality value is absent from its column, which saves an expensive query."""
    for column, condition in where.items():
        wanted = condition if isinstance(condition, list) else [condition]
        if not isinstance(condition, Mapping) and values(column).isdisjoint(wanted):
            return False
    return True


def _key(signal: Signal) -> str:
    """Return a key that is equal for signals with the same conditions."""
    return repr((signal.where, signal.unless))


def _row_filter(signal: Signal) -> pl.Expr:
    return reduce(lambda kept, unless: kept & ~expression(unless), signal.unless, expression(signal.where))
