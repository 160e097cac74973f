"""Assigns runs to nights: dates in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.triage.examine.run_task import ExaminedRun

DAY_SECONDS = 86_400.0


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
    moment = examined.task.written if ended is None else ended
    return date_of(moment if 0 < moment < now - DAY_SECONDS else now)
