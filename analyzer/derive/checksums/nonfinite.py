"""Compares when the workers' recorders first saw a batch, or a loss of the worker, that is not finite."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.derive.training.leave_one_out import range_of_others
from analyzer.tables.builders import frame

Row = Mapping[str, Any]
_FINITE = "finite"
_KINDS = {"own_loss": "own_loss", "nonfinite_batch": "batch"}
"""Kind of a row of `checksums` → kind of a row of `nonfinite`."""
_VALUES = {"nan": "NaN", "inf": "infinite", "-inf": "infinite"}


def nonfinite(checksums: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and kind, from the latest process of the worker that states it."""
    if checksums.is_empty():
        return frame("nonfinite", ())
    trainers = {*workers.filter("trains")["worker"]}
    known = checksums.filter(pl.col("kind").is_in(list(_KINDS))).drop_nulls("worker")
    known = known.sort("time", maintain_order=True)
    rows: list[Row] = []
    for kind in _KINDS:
        own = known.filter(kind=kind).unique("worker", keep="last").sort("worker")
        rows += _compared(kind, own.to_dicts(), whole={*own["worker"]} >= trainers)
    return frame("nonfinite", rows)


def _compared(kind: str, own: list[dict[str, Any]], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kind; no loss is marked as first unless `own` has every worker (`whole`)."""
    known = len(own) > 1 and whole if kind == "own_loss" else True
    bad = {row["worker"] for row in own if row["digest"] != _FINITE}
    last_finite = {row["worker"]: row["step"] - (row["worker"] in bad) for row in own}
    of_others = range_of_others(last_finite)
    for row in own:
        worker, step = row["worker"], row["step"]
        alone = worker in bad and of_others.get(worker, (step, step))[0] >= step
        yield {
            "worker": worker, "kind": _KINDS[kind], "source": row["source"], "line": row["line"],
            "value": _VALUES.get(row["digest"], row["digest"]),
            "step": step, "place": _place(kind, row),
            "first": known and alone, "everywhere": whole and len(bad) == len(own),
        }  # fmt: skip


def _place(kind: str, row: Row) -> str:
    return str(row["name"]) if kind == "own_loss" else f"batch {row['step'] + 1} of {row['name']}"
