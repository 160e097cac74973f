"""Tells when the files of a job that still ran were collected, and how long its workers had been silent then.

`mwms-collect` writes that moment by the clock of the machine on which it runs, which need not be that of the
logs, nor in their time zone.
"""

from datetime import datetime
from typing import NamedTuple

import polars as pl

from analyzer.tables.clock_alignment import ZONE_STEP_SECONDS

LONG_SECONDS = 300.0
"""Minimum silence of a job that runs: images are pulled, and checkpoints written, in minutes."""
_BEFORE_SECONDS = 5.0
"""Seconds by which the last line may be later than the moment of the collection, as clocks differ."""
_FAR_SECONDS = 30 * 86_400.0
"""Seconds after which no job is still looked at."""
_YEARLESS = 32e6
"""Times below it are of logs that state no year."""
_RECENT_SECONDS = 60.0
"""A remainder of a quarter of an hour as small as this may be a time zone, and not a silence."""


class CollectionTime(NamedTuple):
    """When the files were collected (s since 1970); `doubt` tells why a time stated in a file is ignored."""

    moment: float | None = None
    doubt: str | None = None

    def silence(self, last: float, pause: float = 0.0) -> float | None:
        """Return the seconds from `last` to the collection; None if a pause or a time zone may explain them.

        `last` is when a worker was last seen (s since 1970), `pause` its longest pause before that (s).
        """
        seconds = 0.0 if self.moment is None else self.moment - last
        long = seconds >= max(LONG_SECONDS, 3 * pause)
        return seconds if long and seconds % ZONE_STEP_SECONDS > max(_RECENT_SECONDS, pause) else None


NO_TIME = CollectionTime()
"""What is known if no file states the moment."""


def collection_time(facts: pl.DataFrame, sources: pl.DataFrame) -> CollectionTime:
    """Return when the files were collected, if a file says so and the times in the logs bear it out."""
    stated = facts.filter(key="collected_at")["value"]
    newest = sources["last_time"].max()
    if stated.is_empty() or not isinstance(newest, float) or newest < _YEARLESS:
        return NO_TIME
    began, ended = (datetime.fromisoformat(time).timestamp() for time in stated[-1].split("/"))
    if ended < newest - _BEFORE_SECONDS:
        return CollectionTime(doubt="before the last line of the logs")
    if began > newest + _FAR_SECONDS:
        return CollectionTime(doubt="more than 30 days after the last line of the logs")
    return CollectionTime(began)
