"""Finds logs whose standard output stands below the exception that ended the process.

Where a file takes both streams, Python writes stderr at once, but stdout when its buffer is full or the
process ends. Such a log seems to show that training went on after its own end.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from analyzer.derive.training.progress import last_places

_IN_TRAINING = frozenset({"input", "collective", "callback", "save"})
"""Parts of a program that only run while it trains, so that an exception there follows steps."""
_OF_A_GRAPH = "Graph execution error"
_UNCAUGHT = "1"
"""Exit code of Python after an exception that nothing caught."""


def flushed_below(
    raised: Iterable[Mapping[str, Any]],
    scalars: pl.DataFrame,
    facts: pl.DataFrame,
    starting: Collection[str],
) -> dict[str, int]:
    """Return source → line of the start of its process, for the logs whose stdout was flushed at the end.

    `raised` are exceptions, by line; `starting` are the keys of facts that a process states as it starts.
    All that the script printed is undated and stands below the last exception, and TensorFlow started above
    it. That would also be so after an exception that was caught before the first step: so the exit code says
    that nothing caught it, or it arose in training. Who reached the planned end went on.
    """
    stated = facts.filter(pl.col("key").is_in(starting)).drop_nulls("line")
    starts = dict(stated.drop_nulls("time").group_by("source").agg(pl.col("line").max()).iter_rows())
    progress = scalars.filter(pl.col("origin") != "event_file").drop_nulls("line")
    in_order = {*progress.drop_nulls("time")["source"]}
    undated = pl.concat([each.select("source", "line", "time") for each in (progress, stated)])
    printed = undated.filter(pl.col("time").is_null()).group_by("source").agg(pl.col("line").min())
    first = dict(printed.iter_rows())
    codes = dict(facts.filter(key="exit_code").select("worker", "value").iter_rows())
    done = {key for key, place in last_places(scalars).items() if place.is_planned_end}
    found = {}
    for row in {row["source"]: row for row in raised}.values():
        source, code = row["source"], codes.get(row["worker"])
        uncaught = code == _UNCAUGHT if code is not None else _arose_in_training(row)
        between = starts.get(source, row["line"]) < row["line"] < first.get(source, 0)
        if between and uncaught and source not in in_order and (row["worker"], row["attempt"]) not in done:
            found[source] = starts[source]
    return found


def swapped_below(
    raised: Iterable[Mapping[str, Any]], scalars: pl.DataFrame, facts: pl.DataFrame, records: pl.DataFrame
) -> set[tuple[str, int]]:
    """Return (source, line) of the progress below an exception that was printed before it.

    Collectors read the two streams of a process one by one, so that the last line of stdout may come after
    the traceback that ended it. Only one line counts, which is the last of its log and not the planned end,
    and only if another worker lost a peer: after an exception that was caught, training goes on.
    """
    rows = list(raised)
    bereft = {row["worker"] for row in rows if not row["own"]}
    codes = dict(facts.filter(key="exit_code").select("worker", "value").iter_rows())
    done = {key for key, place in last_places(scalars).items() if place.is_planned_end}
    progress = scalars.filter(pl.col("origin") == "loop").drop_nulls("line").select("source", "line").unique()
    last_lines = dict(records.drop_nulls("line").group_by("source").agg(pl.col("line").max()).iter_rows())
    found = set()
    for source, row in {row["source"]: row for row in rows if row["own"]}.items():
        lines = progress.filter(pl.col("source") == source)["line"]
        below = [line for line in lines if line > row["line"]]
        left = codes.get(row["worker"], _UNCAUGHT) == _UNCAUGHT and bereft - {row["worker"]}
        is_last = len(below) == 1 < len(lines) and below[0] >= last_lines.get(source, 0)
        if left and is_last and (row["worker"], row["attempt"]) not in done:
            found.add((source, below[0]))
    return found


def was_flushed(printed: Mapping[str, Any], logs: Collection[str]) -> bool:
    """Return True if a script printed the undated line of a fact or of progress to one of these logs."""
    return printed["source"] in logs and printed.get("near", printed.get("time")) is None


def _arose_in_training(row: Mapping[str, Any]) -> bool:
    return not row["own"] or row["via"] in _IN_TRAINING or row["message"].startswith(_OF_A_GRAPH)
