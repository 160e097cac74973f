"""Infers the year, or the date, of logs whose lines lack it, from the run's other files.

Each rotated part of a log is a file; often only the first shows a year, in TensorFlow's own lines. A program
that prints the time of day alone does so into stdout, while TensorFlow's lines, in stderr, have a date.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from analyzer.ingest.logs.prefixes.dates import SAME_START
from analyzer.ingest.logs.prefixes.time_formats import FIRST_HOUR
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import log_of

_YEARLESS = 2 * 365 * 86_400
"""Times below this lack a year: readers assume 1970, and logs from December run into 1971."""
_DAY = 86_400


def complete_dates(outputs: Sequence[SourceRows]) -> None:
    """Set the year or the date of logs without one from the other files of the run.

    The year is taken from the log's other rotated parts, the date from the worker's other logs, where there
    are any. Without any date in the run, times stay in 1970.
    """
    timed = [output for output in outputs if output.first_time is not None]
    dated = [output for output in timed if (output.first_time or 0) >= _YEARLESS]
    for output in timed if dated else ():
        if output.source.kind is not Kind.LOG or (output.last_time or 0) >= _YEARLESS:
            continue
        if output.lacks_date:
            _set_date(output, dated)
        else:
            _set_year(output, dated)


def _set_year(output: SourceRows, dated: Sequence[SourceRows]) -> None:
    log = log_of(output.source.name)
    parts = [other for other in dated if log_of(other.source.name) == log] or dated
    output.shift_times(min(_years(output, parts), key=partial(_gap, output, parts)))


def _set_date(output: SourceRows, dated: Sequence[SourceRows]) -> None:
    """Set the date; remove times that count from the start of the program."""
    logs = [other for other in dated if other.source.kind is Kind.LOG] or dated
    own = output.source.worker
    parts = [other for other in logs if own and other.source.worker == own] or logs
    shift = min(_days(parts), key=lambda days: (_gap(output, parts, days), _apart(output, parts, days)))
    is_far = _gap(output, parts, shift) > SAME_START
    output.shift_times(None if is_far and (output.first_time or 0) < FIRST_HOUR else shift)


def _years(output: SourceRows, parts: Iterable[SourceRows]) -> list[float]:
    """Return the seconds to add for each candidate year: that of another file or an adjacent one."""
    years = {_moment(part.last_time or 0).year for part in parts}
    first = output.first_time or 0
    return [
        _moment(first).replace(year=year).timestamp() - first
        for year in sorted({year + more for year in years for more in (-1, 0, 1)})
    ]


def _days(parts: Iterable[SourceRows]) -> list[float]:
    """Return the seconds to add for each candidate date: that of another file or an adjacent one."""
    days = {int((time or 0) // _DAY) for part in parts for time in (part.first_time, part.last_time)}
    return [float(_DAY * day) for day in sorted({day + more for day in days for more in (-1, 0, 1)})]


def _gap(output: SourceRows, parts: Iterable[SourceRows], shift: float) -> float:
    """Return the seconds between the shifted log and the nearest other file."""
    first, last = (output.first_time or 0) + shift, (output.last_time or 0) + shift
    return min(max((part.first_time or 0) - last, first - (part.last_time or 0), 0.0) for part in parts)


def _apart(output: SourceRows, parts: Iterable[SourceRows], shift: float) -> float:
    """Return the seconds from the start of the shifted log to the nearest start of another file."""
    return min(abs((part.first_time or 0) - (output.first_time or 0) - shift) for part in parts)


def _moment(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)
