"""Tells when the files of a job that still ran were collected, and how long its workers had been silent then.

`mwms-collect` writes that moment by the clock of the machine on which it runs, which need not be that of the
logs, nor in their time zone.
"""

from datetime import datetime
from typing import NamedTuple

import polars as pl

LONG_SECONDS = 300.0
"""Minimum silence of a job that runs: images are pulled, and checkpoints written, in minutes."""
_BEFORE_SECONDS = 5.0
"""Seconds by which the last line may be later than the moment of the collection, as clocks differ."""
_FAR_SECONDS = 30 * 86_400.0
"""Seconds after which no job is still looked at."""
_YEARLESS = 32e6
"""Times below it are of logs that state no year."""
_RECENT_SECONDS = 60.0
"""A silence so little longer than the difference of a time zone may be no silence."""
_WESTERN_STEP_SECONDS = 1_800
"""Zones behind UTC differ from it by a multiple of this; quarters of an hour are east of it only."""
_WESTERNMOST_SECONDS = 43_200.0
"""By how much the last of them is behind."""
IN_A_ZONE = "as long after the last lines as two time zones may differ"


class CollectionTime(NamedTuple):
    """When the files were collected (s since 1970); `doubt` tells why a time stated in a file is ignored."""

    moment: float | None = None
    doubt: str | None = None
    same_zone: bool = False
    """The files show that the times of the logs are not those of another time zone."""

    def silence(self, last: float, pause: float = 0.0) -> float | None:
        """Return the seconds from `last` to the collection; None if a pause or a time zone may explain them.

        `last` is when a worker was last seen (s since 1970), `pause` its longest pause before that (s).
        """
        return None if self.is_in_a_zone(last, pause) else self._long(last, pause)

    def is_in_a_zone(self, last: float, pause: float = 0.0) -> bool:
        """Return True if a time zone alone may explain a long silence."""
        seconds = self._long(last, pause)
        if seconds is None or self.same_zone:
            return False
        recent = max(_RECENT_SECONDS, pause)
        return seconds <= _WESTERNMOST_SECONDS + recent and seconds % _WESTERN_STEP_SECONDS <= recent

    def _long(self, last: float, pause: float) -> float | None:
        seconds = 0.0 if self.moment is None else self.moment - last
        return seconds if seconds >= max(LONG_SECONDS, 3 * pause) else None


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
        return CollectionTime(doubt="before the last line of the logs, by its own clock")
    if began > newest + _FAR_SECONDS:
        return CollectionTime(doubt="more than 30 days after the last line of the logs")
    return CollectionTime(began, same_zone=all_in_utc(sources))


def all_in_utc(sources: pl.DataFrame) -> bool:
    """Return True if the times of each dated log of a worker are known to be UTC, and there is one."""
    dated = sources.filter(pl.col("last_time").is_not_null() & pl.col("worker").is_not_null(), kind="log")
    return dated.height > 0 and dated["time_zone"].eq_missing("UTC").all()
