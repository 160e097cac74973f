"""Compares a run with a good run: facts, step time, curves and log lines."""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import polars as pl

from analyzer.diagnose.curves import json_number
from analyzer.diagnose.log_lines.anomalous_lines import odd_lines
from analyzer.diagnose.wording import wording
from analyzer.model.contract import BaselineDiff, CurveDiff, FactDiff
from analyzer.model.run import Tables
from analyzer.model.schema import POSITIONS
from analyzer.tables.grouping import grouped

MAX_CURVES = 6
_MIN_DIFFERENCE = 0.2
"""Smallest relative difference between two values that is reported."""
_OF_EACH_RUN = frozenset({"host", "server_address", "cluster_spec", "claims", "gpu_place"})
"""Facts that differ between any two runs, and so are not compared."""


class BaselineRun(NamedTuple):
    """A run to compare with, as a rule one that succeeded."""

    name: str
    verdict: Literal["healthy", "degraded", "failed", "inconclusive"]
    cause: str | None
    tables: Tables
    lines: frozenset[str]
    """Templates of all its log lines, without the times before them."""


def against(tables: Tables, good: BaselineRun) -> BaselineDiff:
    """Return the differences from the good run, by section; a list is empty if nothing differs."""
    named = "the good run" if good.verdict == "healthy" else good.name
    return {
        "run": good.name,
        "verdict": good.verdict,
        "cause": good.cause,
        "facts": list(_facts(tables, good.tables)),
        "step_time": {"here": _step_time(tables["paces"]), "there": _step_time(good.tables["paces"])},
        "curves": list(_curves(tables, good.tables))[:MAX_CURVES],
        "lines": odd_lines(tables, good.lines, compared=named),
    }


def _facts(here: Tables, there: Tables) -> Iterator[FactDiff]:
    """Yield the worker and job facts whose values differ between the two runs."""
    ours, theirs, labels = _fact_values(here), _fact_values(there), wording()["labels"]
    for key in sorted(ours.keys() & theirs.keys()):
        if ours[key] != theirs[key]:
            yield {"key": key, "label": labels.get(key, key), "here": ours[key], "there": theirs[key]}


def _fact_values(tables: Tables) -> dict[str, list[str]]:
    rows = tables["cluster"].filter(~pl.col("key").is_in(sorted(_OF_EACH_RUN))).select("key", "value")
    job = tables["job"].row(0, named=True)
    found: dict[str, list[str]] = grouped(rows.iter_rows())
    found["workers"] = [str(job["expected"])]
    if job["strategy"]:
        found["strategy"] = [job["strategy"]]
    return {key: sorted(set(values)) for key, values in found.items()}


def _step_time(paces: pl.DataFrame) -> float | None:
    """Return the median of the workers' seconds per step; None if no worker has any."""
    middle = paces["step_time"].median()
    return None if middle is None else round(float(middle), 4)  # type: ignore[arg-type]


def _curves(here: Tables, there: Tables) -> Iterator[CurveDiff]:
    """Yield the curves that differ by more than 20 % at the last step that both runs logged."""
    ours, theirs = _values(here["scalars"]), _values(there["scalars"])
    both = ours.join(theirs, on=["tag", "epoch", "step"], suffix="_there").sort("tag", "epoch", "step")
    for row in both.group_by("tag", maintain_order=True).last().iter_rows(named=True):
        mine, other = row["value"], row["value_there"]
        if _differ(mine, other):
            yield {
                "tag": row["tag"],
                "epoch": None if row["epoch"] < 0 else row["epoch"],
                "step": None if row["step"] < 0 else row["step"],
                "here": json_number(mine),
                "there": json_number(other),
            }


def _values(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return the median value over the workers per tag, epoch and step, without progress markers."""
    measured = scalars.filter(~pl.col("tag").is_in(POSITIONS))
    places = ["tag", pl.col("epoch").fill_null(-1), pl.col("step").fill_null(-1)]
    return measured.group_by(places).agg(pl.col("value").median())


def _differ(one: float, other: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.isfinite(one) != math.isfinite(other)
    return abs(one - other) > _MIN_DIFFERENCE * max(abs(one), abs(other))
