"""All signals × tables → rows: each table is looked at once, for every signal of every rule together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
        masks = _masks(tables[table], [signal for _, signal in signals])
        for (rule_id, signal), mask in zip(signals, masks, strict=True):
            found[rule_id][signal.name] = _rows(signal, tables[table], mask)
    return found


def _masks(table: pl.DataFrame, signals: Sequence[Signal]) -> list[pl.Series]:
    wheres = {repr(signal.where): signal.where for signal in signals}
    conditions = [repr(signal.where) for signal in signals]
    if not table.height:
        return [pl.Series(dtype=pl.Boolean)] * len(conditions)
    masks = table.with_columns(expression(where).alias(condition) for condition, where in wheres.items())
    return [masks[condition] for condition in conditions]


def _rows(signal: Signal, table: pl.DataFrame, mask: pl.Series) -> RowsByWorker:
    by_worker: dict[str, list[Row]] = {}
    if not mask.any():
        return by_worker
    for row in table[mask.arg_true()].iter_rows(named=True):
        captured = json.loads(row["captures"]) if signal.pattern else {}
        by_worker.setdefault(row.get(signal.who) or "", []).append(row | captured)
    return by_worker
