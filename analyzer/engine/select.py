"""All signals × tables → rows: each table is looked at once, for every signal of every rule together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import polars as pl

from analyzer.engine.conditions import expression
from analyzer.engine.language import RulePack, Signal
from analyzer.model import Tables

Row = Mapping[str, Any]
RowsByWorker = Mapping[str, list[Row]]


def select(pack: RulePack, tables: Tables) -> dict[str, dict[str, RowsByWorker]]:
    """Rule → signal → the rows that satisfy it, by the worker whose they are."""
    found: dict[str, dict[str, RowsByWorker]] = {rule.id: {} for rule in pack.rules}
    by_table: dict[str, list[tuple[str, Signal]]] = {}
    matched = set(tables["matches"]["pattern"].to_list())
    for rule in pack.rules:
        for signal in rule.signals.values():
            if signal.pattern and signal.pattern.id not in matched:
                found[rule.id][signal.name] = {}
            else:
                by_table.setdefault(signal.table, []).append((rule.id, signal))
    for table, signals in by_table.items():
        numbers = _numbers(tables[table], {_key(signal): signal for _, signal in signals})
        rows = _rows(tables[table], set().union(*numbers.values()))
        for rule_id, signal in signals:
            own = [rows[number] for number in numbers[_key(signal)]]
            found[rule_id][signal.name] = _by_worker(signal, own)
    return found


def _numbers(table: pl.DataFrame, signals: Mapping[str, Signal]) -> dict[str, Sequence[int]]:
    """Signal → the numbers of the rows that satisfy it."""
    if not table.height:
        return dict.fromkeys(signals, ())
    wanted = (_counts(signal).arg_true().implode().alias(name) for name, signal in signals.items())
    return table.select_seq(wanted).row(0, named=True)


def _key(signal: Signal) -> str:
    """The same for signals that ask the same of a table."""
    return repr((signal.where, signal.unless))


def _counts(signal: Signal) -> pl.Expr:
    return reduce(lambda kept, unless: kept & ~expression(unless), signal.unless, expression(signal.where))


def _rows(table: pl.DataFrame, numbers: set[int]) -> dict[int, Row]:
    wanted = sorted(numbers)
    return dict(zip(wanted, table[wanted].iter_rows(named=True), strict=True))


def _by_worker(signal: Signal, rows: Sequence[Row]) -> RowsByWorker:
    by_worker: dict[str, list[Row]] = {}
    for row in rows:
        captured = json.loads(row["captures"]) if signal.pattern else {}
        by_worker.setdefault(row.get(signal.who) or "", []).append({**row, **captured})
    return by_worker
