"""Assigns runs to nights: dates in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.triage.examine.run_task import ExaminedRun

DAY_SECONDS = 86_400.0
_FIRST_RELEASE = 1_446_940_800.0
"""2015-11-08, when TensorFlow was released. Earlier times are of logs without a year, or of unset clocks."""


def date_of(moment: float) -> str:
    """Return the date (`YYYY-MM-DD`) of a time in seconds since the epoch."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def midnight(date: str) -> float:
    """Return the time at which a date begins, in seconds since the epoch."""
    return datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()


def night_of(examined: ExaminedRun, now: float) -> str:
    """Return the night on which a run ended: the present one for runs of the last 24 hours.

    The end is that of the log, or the last write to a file if the log states no time.
    """
    ended = examined.summary.ended if examined.summary else None
    moment = known_time(examined.task.written) if ended is None else ended
    return date_of(moment if moment is not None and moment < now - DAY_SECONDS else now)


def known_time(moment: float | None) -> float | None:
    """Return a time in seconds since the epoch; None if no run can be of that time."""
    return moment if moment is not None and moment >= _FIRST_RELEASE else None
