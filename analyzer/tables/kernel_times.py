"""Tells which lines of kernel logs are of another time than the run: such logs hold weeks, and other jobs."""

import re
from functools import cached_property

import polars as pl

from analyzer.model.task_names import is_kernel_log
from analyzer.tables.clock_alignment import in_span_of_any_zone

_UTC_OFFSET = re.compile(r"\S+T\d\d:\d\d:\d\d[.,]\d+([+-])(\d\d):?(\d\d)\s")
"""Regex for a time of `dmesg --time-format iso`, which states the zone of the host."""
_MARGIN_SECONDS = 60.0
"""By how much the clock of a kernel log may differ from those of the workers, zones aside."""
_UNDATED_SECONDS = 86_400.0
"""For how long steps without a time may go on; what a kernel log has later is as likely of another job."""


class RunTimes:
    """When the workers' logs began and ended; kernel logs are not counted."""

    def __init__(self, sources: pl.DataFrame, records: pl.DataFrame, scalars: pl.DataFrame) -> None:
        """Take the times from `sources`; where all logs go on below their last time, the end is not known."""
        self._kernel_logs = {name for name in sources["source"] if is_kernel_log(name)}
        self._own = sources.filter(
            pl.col("worker").is_not_null(),
            pl.col("last_time").is_not_null(),
            ~pl.col("source").is_in(self._kernel_logs),
        )
        self._records, self._scalars = records, scalars

    @cached_property
    def _goes_on(self) -> bool:
        return set(self._own["source"]) <= _with_undated_end(self._records, self._scalars)

    def apart_from_end(self, rows: pl.DataFrame, text: str) -> pl.Series:
        """Return for each row whether a kernel log has it from another time than that of the run's end.

        That lasts from the first to the last of its workers' last lines: a worker that is killed stops first,
        its peers later. `text` names the column with the line.
        """
        last = self._own.group_by("worker").agg(pl.col("last_time").max())
        return self._apart(rows, text, last["last_time"])

    def apart_from_run(self, rows: pl.DataFrame, text: str) -> pl.Series:
        """Return for each row whether it is of a kernel log and was not written while the run went on."""
        return self._apart(rows, text, self._own["first_time"])

    def _apart(self, rows: pl.DataFrame, text: str, begins: pl.Series) -> pl.Series:
        if not self._kernel_logs or not len(begins):
            return pl.Series([False] * rows.height, dtype=pl.Boolean())
        first, last = float(begins.min()), float(self._own["last_time"].max())  # type: ignore[arg-type]
        span = first - _MARGIN_SECONDS, last + _MARGIN_SECONDS
        lines = rows.select("source", "time", text).iter_rows()
        apart = [
            name in self._kernel_logs
            and not _is_within(time, line, *span)
            and not self._may_follow(time, last)
            for name, time, line in lines
        ]
        return pl.Series(apart, dtype=pl.Boolean())

    def _may_follow(self, time: float | None, last: float) -> bool:
        """Return True for a time after the last known one of a run that went on for an unknown time."""
        return self._goes_on and time is not None and last <= time <= last + _UNDATED_SECONDS


def _with_undated_end(records: pl.DataFrame, scalars: pl.DataFrame) -> set[str]:
    """Return the logs that have steps without a time below their last dated line."""
    undated = scalars.filter(pl.col("time").is_null()).group_by("source").agg(step=pl.col("line").max())
    dated = pl.concat([
        records.drop_nulls("time").select("source", line="last_line"),
        scalars.drop_nulls("time").select("source", "line"),
    ])  # fmt: skip
    last = dated.group_by("source").agg(pl.col("line").max())
    both = undated.join(last, on="source", how="left")
    return set(both.filter((pl.col("step") > pl.col("line")).fill_null(value=True))["source"])


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
