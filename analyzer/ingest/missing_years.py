"""Infers the year of logs whose timestamps lack it, from the run's other files.

Each rotated part of a log is a file; often only the first shows a year, in TensorFlow's own lines.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from analyzer.ingest.reader_output import SourceRows
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import log_of

_YEARLESS = 2 * 365 * 86_400
"""Times below this lack a year: readers assume 1970, and logs from December run into 1971."""


def complete_years(outputs: Sequence[SourceRows]) -> None:
    """Set the year of logs without one from their other rotated parts, else from any file of the run."""
    timed = [output for output in outputs if output.first_time is not None]
    dated = [output for output in timed if (output.first_time or 0) >= _YEARLESS]
    for output in timed:
        if output.source.kind is Kind.LOG and (output.last_time or 0) < _YEARLESS and dated:
            log = log_of(output.source.name)
            parts = [other for other in dated if log_of(other.source.name) == log] or dated
            output.shift_times(min(_shifts(output, parts), key=partial(_gap, output, parts)))


def _shifts(output: SourceRows, parts: Sequence[SourceRows]) -> list[float]:
    """Return the seconds to add for each candidate year: that of another file or an adjacent one."""
    years = {_moment(part.last_time or 0).year for part in parts}
    first = output.first_time or 0
    return [
        _moment(first).replace(year=year).timestamp() - first
        for year in sorted({year + more for year in years for more in (-1, 0, 1)})
    ]


def _gap(output: SourceRows, parts: Sequence[SourceRows], shift: float) -> float:
    """Return the seconds between the shifted log and the nearest other file."""
    first, last = (output.first_time or 0) + shift, (output.last_time or 0) + shift
    return min(max((part.first_time or 0) - last, first - (part.last_time or 0), 0.0) for part in parts)


def _moment(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)
