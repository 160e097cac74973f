"""Finds the checkpoint to resume from and the steps lost by doing so."""

import re
from typing import Any

import polars as pl

from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.run import Tables
from analyzer.tables.clock_alignment import CommonClock

_STEP_IN_NAME = lazy_regex(r"(?:^|[/_.-])(?:global_?step|step|model\.ckpt)[_=-]?(\d{1,18})(?![\w-])")
"""Regex of the step number in a checkpoint's name; excludes `ckpt-4`, which may count checkpoints."""
_COUNTED = lazy_regex(r"-(\d{1,18})$")
"""Regex of a number that may count steps or checkpoints."""
_TEMPORARY = lazy_regex(r"(?:^|/)(?:workertemp|tmp_worker)_\d+(?:/|$)")
"""Regex of temporary directories to which non-leaders save; Keras and Estimator delete them."""
_ANNOUNCED = lazy_regex(r"(?i)\b(?:saving|writing|backing up)\b")
_LISTED = lazy_regex(r"(?:^|/)(?P<name>[\w./=-]*?(?:ckpt|checkpoint|step|model)[\w.=-]*?\d)\.index$")


def last_checkpoint(tables: Tables) -> str | None:
    """Return the last checkpoint that a log reports as complete, else the last among the collected files."""
    of_evaluator = pl.col("worker").str.starts_with("evaluator:").fill_null(value=False)
    # An evaluator only restores checkpoints that the trainers have saved.
    facts = tables["facts"].filter((pl.col("key") == "checkpoint") & ~of_evaluator)
    saved = [row for row in facts.iter_rows(named=True) if not _TEMPORARY.search(row["value"])]
    for unusable in (*_broken(tables["exceptions"], saved), *_unfinished(tables["records"], saved)):
        if unusable in saved:
            saved.remove(unusable)
    if not saved:
        return _listed(tables["sources"]["source"].to_list())
    leaders = tables["workers"].filter("leader")["worker"].to_list()
    # Each worker of a collective saves; what others than the leader write is not meant to be kept.
    saved = [row for row in saved if row["worker"] in leaders] or saved
    clock = CommonClock(tables["clocks"], tables["sources"])
    times = [clock.time(row["worker"], row["source"], row["time"]) for row in saved]
    last = max(range(len(saved)), key=lambda n: (times[n] is not None, times[n] or 0.0, n))
    return str(saved[last]["value"])


def was_found_damaged(checkpoint: str | None, tables: Tables) -> bool:
    """Return True if this checkpoint is the last that a worker named, and its restore found damaged data."""
    damaged = tables["exceptions"].filter(type="DataLossError", via="restore")["worker"].to_list()
    facts = tables["facts"].filter(pl.col("key") == "checkpoint", pl.col("worker").is_in(damaged))
    usable = [row for row in facts.iter_rows(named=True) if not _TEMPORARY.search(row["value"])]
    return checkpoint in {row["worker"]: row["value"] for row in usable}.values()


def _broken(exceptions: pl.DataFrame, saved: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last announced checkpoint of each worker whose save failed."""
    failed = set(exceptions.filter("own", via="save")["worker"])
    last = {row["worker"]: row for row in saved if row["worker"] in failed}
    return list(last.values())


def _unfinished(records: pl.DataFrame, saved: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checkpoints that the last line of a log announces; nothing shows that their save ended."""
    last = dict(records.group_by("source").agg(pl.col("line").max()).iter_rows())
    announced = [row for row in saved if _ANNOUNCED.search(row["excerpt"] or "")]
    return [row for row in announced if row["line"] is not None and row["line"] == last.get(row["source"])]


def _listed(sources: list[str]) -> str | None:
    """Return the checkpoint with the highest number whose index is among the files; None without any."""
    names = [found["name"] for source in sources if (found := _LISTED.search(source))]
    return max(names, key=lambda name: int(re.findall(r"\d{1,18}", name)[-1]), default=None)


def steps_lost(checkpoint: str | None, tables: Tables) -> int | None:
    """Return the steps since a checkpoint; None if its name has no step number or steps count per epoch.

    A number as in `ckpt-300` may count checkpoints; it is a step if the log shows that step as it saves.
    """
    steps, epochs = (tables["lifetimes"][name].drop_nulls().to_list() for name in ("step", "epoch"))
    if checkpoint is None or not steps or epochs:
        return None
    saved = _STEP_IN_NAME.search(checkpoint)
    number = int(saved[1]) if saved else _numbered_by_step(checkpoint, tables)
    return None if number is None or max(steps) < number else int(max(steps)) - number


def _numbered_by_step(checkpoint: str, tables: Tables) -> int | None:
    """Return the number that ends a checkpoint's name if it lies between the steps logged around it."""
    named = _COUNTED.search(checkpoint)
    if named is None:
        return None
    number = int(named[1])
    said = tables["facts"].filter(key="checkpoint", value=checkpoint).drop_nulls("line")
    for source, line in said.select("source", "line").iter_rows():
        shown = (
            tables["scalars"].filter(pl.col("epoch").is_null(), source=source).drop_nulls(["line", "step"])
        )
        before = shown.filter(pl.col("line") < line)["step"].cast(pl.Int64).to_list()[-1:]
        after = shown.filter(pl.col("line") > line)["step"].cast(pl.Int64).to_list()[:1]
        if before and before[0] <= number <= (after or before)[0]:
            return number
    return None
