"""Reports the workers: how each ended, its last step, its pauses, sources, readings and curves."""

from collections.abc import Mapping
from typing import Any, cast

import polars as pl

from analyzer.diagnose.curves import drawn, readings_by_worker
from analyzer.diagnose.wording import end_of
from analyzer.model.contract import Part, PauseInterval, WorkerEnd, WorkerReport
from analyzer.model.run import Tables
from analyzer.tables.grouping import grouped


def worker_reports(
    tables: Tables,
    parts: Mapping[str, str],
    paused: Mapping[str, list[PauseInterval]],
    cause: str | None,
) -> list[WorkerReport]:
    """Return a report on each worker, with its part in the failure (`parts`) and its pauses (`paused`)."""
    read = tables["sources"].filter(pl.col("read") != "skipped")
    sources: dict[str | None, list[str]] = grouped(read.select("worker", "source").iter_rows())
    curves = drawn(tables["scalars"], tables["curves"], tables["steps"])
    readings = readings_by_worker(tables["scalars"])
    # Row by row: all rows at once would take 25 MB with 10,000 workers.
    workers = tables["workers"]
    lives = workers.select("worker").join(tables["lifetimes"], on="worker", how="left", maintain_order="left")
    reports = []
    for worker, life in zip(workers.iter_rows(named=True), lives.iter_rows(named=True), strict=True):
        name = worker["worker"]
        report: WorkerReport = {
            "id": name,
            "host": worker["host"],
            "claimed": worker["claims"],
            "part": cast(Part, parts[name]),
            "expected": worker["expected"],
            "seen": worker["seen"],
            "attempts": life["attempts"],
            "ended": _end(life, parts[name], cause),
            "last_step": {"epoch": life["epoch"], "step": life["step"]},
            "last_seen": life["last_seen"],
            "pauses": paused.get(name, []),
            "sources": sources.get(name, []),
            "readings": readings.get(name, []),
            "curves": curves.get(name, []),
        }
        if life["place"] is None:
            report["startup_seen"] = False
        if worker["guessed"]:
            report["guessed"] = worker["guessed"]
        reports.append(report)
    return reports


def _end(life: Mapping[str, Any], part: str, cause: str | None) -> WorkerEnd:
    says = end_of(life, part, cause)
    return {"how": life["ended"], "exit_code": life["exit_code"], "sure": life["sure"], "says": says}
