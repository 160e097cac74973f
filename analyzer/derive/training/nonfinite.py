"""Compares when the recorders of the workers first saw a batch or an own loss that is not finite."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.tables.builders import frame

Row = Mapping[str, Any]
_FINITE = "finite"
_KINDS = {"own_loss": "own_loss", "nonfinite_batch": "batch"}
"""Kind of a row of `checksums` → kind of a row of `nonfinite`."""
_VALUES = {"nan": "NaN", "inf": "infinite", "-inf": "infinite"}


def nonfinite(checksums: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and kind, from the latest process of the worker that states it."""
    trainers = {*workers.filter("trains")["worker"]}
    known = checksums.filter(pl.col("kind").is_in(list(_KINDS)) & pl.col("worker").is_not_null())
    rows: list[Row] = []
    for kind in _KINDS:
        own = known.filter(pl.col("kind") == kind).sort("time").unique("worker", keep="last").sort("worker")
        rows += _compared(kind, own.to_dicts(), whole={*own["worker"]} >= trainers)
    return frame("nonfinite", rows)


def _compared(kind: str, own: list[dict[str, Any]], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kind; unless `own` has every worker (`whole`), no loss is first."""
    known = len(own) > 1 and whole if kind == "own_loss" else True
    bad = [row for row in own if row["digest"] != _FINITE]
    for row in own:
        yield {
            "worker": row["worker"], "kind": _KINDS[kind], "source": row["source"], "line": row["line"],
            "value": _VALUES.get(row["digest"], row["digest"]),
            "step": row["step"], "place": _place(kind, row),
            "first": known and row in bad and all(_was_finite_at(row["step"], o) for o in own if o != row),
            "everywhere": whole and len(bad) == len(own),
        }  # fmt: skip


def _was_finite_at(step: int, row: Row) -> bool:
    """Return True if a worker's loss or batch was finite at a step, as far as it is known."""
    last_finite = row["step"] if row["digest"] == _FINITE else row["step"] - 1
    return bool(last_finite >= step)


def _place(kind: str, row: Row) -> str:
    return str(row["name"]) if kind == "own_loss" else f"batch {row['step'] + 1} of {row['name']}"
