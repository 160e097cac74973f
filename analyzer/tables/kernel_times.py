"""Tells which lines of kernel logs are of another time than the run: such logs hold weeks, and other jobs."""

import re

import polars as pl

from analyzer.model.task_names import is_kernel_log
from analyzer.tables.clock_alignment import in_span_of_any_zone

_UTC_OFFSET = re.compile(r"\S+T\d\d:\d\d:\d\d[.,]\d+([+-])(\d\d):?(\d\d)\s")
"""Regex for a time of `dmesg --time-format iso`, which states the zone of the host."""
_MARGIN_SECONDS = 60.0
"""By how much the clock of a kernel log may differ from those of the workers, zones aside."""


def apart_from_end(rows: pl.DataFrame, text: str, sources: pl.DataFrame) -> pl.Series:
    """Return for each row whether a kernel log has it from another time than that of the run's end.

    That lasts from the first to the last of its workers' last lines: a worker that is killed stops first, its
    peers later. `text` names the column with the line.
    """
    return _apart(rows, text, sources, "last_time")


def apart_from_run(rows: pl.DataFrame, text: str, sources: pl.DataFrame) -> pl.Series:
    """Return for each row whether it is of a kernel log and was not written while the run went on."""
    return _apart(rows, text, sources, "first_time")


def _apart(rows: pl.DataFrame, text: str, sources: pl.DataFrame, begin: str) -> pl.Series:
    kernel_logs = {name for name in sources["source"] if is_kernel_log(name)}
    own = sources.filter(pl.col("worker").is_not_null() & ~pl.col("source").is_in(kernel_logs))
    spans = own.group_by("worker").agg(pl.col("first_time").min(), pl.col("last_time").max())
    begins, ends = (spans[name].drop_nulls().to_list() for name in (begin, "last_time"))
    if not kernel_logs or not ends:
        return pl.Series([False] * rows.height, dtype=pl.Boolean())
    span = min(begins) - _MARGIN_SECONDS, max(ends) + _MARGIN_SECONDS
    lines = rows.select("source", "time", text).iter_rows()
    apart = [name in kernel_logs and not _is_within(time, line, *span) for name, time, line in lines]
    return pl.Series(apart, dtype=pl.Boolean())


def _is_within(time: float | None, line: str, first: float, last: float) -> bool:
    """Return True if a line may have been written between `first` and `last` (s since 1970, UTC).

    Its own time may be in UTC or in the host's time zone; a line without one may be of any time.
    """
    if time is None:
        return True
    offset = _UTC_OFFSET.match(line)
    if offset is None:
        return in_span_of_any_zone(time, first, last)
    minutes = int(f"{offset[1]}{offset[2]}") * 60 + int(f"{offset[1]}{offset[3]}")
    return any(first <= each <= last for each in (time, time + 60 * minutes))
