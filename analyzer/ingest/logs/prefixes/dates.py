"""Completes the times of a log's lines that state no year, no date or no zone, from the lines around them."""

import re
from collections.abc import Iterable
from functools import cached_property

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.prefixes.time_formats import FIRST_HOUR
from analyzer.ingest.logs.prefixes.utc_offset import Stretch, utc_offset
from analyzer.ingest.logs.text import lines

_HALF_A_YEAR = 183 * 86_400
"""In seconds; records further apart than this lie in different years if the log shows none."""
_DAY = 86_400
_HALF_A_ZONE = 450.0
"""Half of the least difference of two time zones (s)."""
SAME_START = 900.0
"""Largest distance (s) from a line with a date at which they are times of day."""

_OF_AN_ENTRY = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ")
"""The time of an entry of a log service: put before its text as UTC, whatever zone the entry states."""


class Dates:
    """Year, dates and offset from UTC of one log.

    A time of day gets the date that brings it closest to the line with a time above it, and the first one to
    the first line that states a date. In a log without any date, the times count from midnight in 1970.
    Local times become UTC where lines that count from 1970 stand beside them.
    """

    def __init__(self, year: int, stretches: Iterable[Stretch] = ()) -> None:
        """Create for a log; `year` completes times that lack one, `stretches` is what is read of the log."""
        self.year = year
        self._stretches = stretches
        self._counts_from_start: bool | None = None
        """True if its times count from the start of the program; None until the first of them."""
        self._has_local = self._has_zoned = False
        """True if a line had a time without, or with, a zone."""
        self._previous: Head | None = None
        """The prefix of the latest line with a time."""
        self._agreeing = 0
        """Lines with a zone beside lines without one: those that agree as in UTC, less those that do not."""

    @property
    def lacks_date(self) -> bool:
        """Return True if the log has times of day, and no date, in what has been read of it."""
        return self._counts_from_start is not None and self._first is None

    @property
    def time_zone(self) -> str | None:
        """Return whether the times in what has been read of the log are `UTC`; None if there are none.

        They are if each states its zone, if those that do agree with those beside them, or if the offset is
        known.
        Else the zone is `unstated`, or `mixed` if some of them state it.
        """
        if not self._has_local:
            return "UTC" if self._has_zoned else None
        if self.utc_offset is not None or self._agreeing > 0:
            return "UTC"
        return "mixed" if self._has_zoned else "unstated"

    @cached_property
    def utc_offset(self) -> float | None:
        """The seconds by which the log's local times are ahead of UTC; None if it does not show them."""
        return utc_offset(self._stretches, self.year)

    def head(self, text: str, near: float | None) -> Head | None:
        """Return the prefix of a line with its time in UTC, in seconds since 1970; None if it has no prefix.

        `near` is the time of the closest line above that states one, None for the first; it decides the year
        or the date that the line leaves out.
        """
        found = self._completed(text, near)
        if found and found.time is not None and not (found.zoned and _OF_AN_ENTRY.match(text)):
            self._note_zone(found)
        return found

    def _completed(self, text: str, near: float | None) -> Head | None:
        found = self._in_utc(head(text, self.year))
        if found is None:
            return None
        if found.clock is not None:
            return found._replace(time=self._closest_day(found.clock, near))
        if found.time is None or near is None or abs(found.time - near) < _HALF_A_YEAR:
            return found
        moved = self._in_utc(head(text, self.year + (1 if found.time < near else -1)))
        return moved if moved and moved.time and abs(moved.time - near) < _HALF_A_YEAR else found

    def _in_utc(self, found: Head | None) -> Head | None:
        """Return the prefix with its time in UTC; unchanged if it states a zone or the offset is unknown."""
        if found is None or found.zoned or found.time is None or not self.utc_offset:
            return found
        return found._replace(time=found.time - self.utc_offset)

    def _note_zone(self, found: Head) -> None:
        """Note whether a line with a time states its zone; compare it with one before that differs in it."""
        self._has_local |= not found.zoned
        self._has_zoned |= found.zoned
        beside, self._previous = self._previous, found
        if beside and beside.zoned != found.zoned:
            self._agreeing += 1 if abs((found.time or 0) - (beside.time or 0)) < _HALF_A_ZONE else -1

    def _closest_day(self, clock: float, near: float | None) -> float | None:
        """Return a local time of day as seconds since 1970; None if it counts from the program's start."""
        if self._counts_from_start is None:
            self._counts_from_start = clock < FIRST_HOUR and not self._is_near(clock, near)
        if self._counts_from_start:
            return None
        return self._on_closest_day(clock, self._first if near is None else near)

    def _is_near(self, clock: float, near: float | None) -> bool:
        dated = self._first if near is None else near
        return dated is None or abs(self._on_closest_day(clock, dated) - dated) <= SAME_START

    def _on_closest_day(self, clock: float, near: float | None) -> float:
        clock -= self.utc_offset or 0.0
        return clock if near is None else clock + round((near - clock) / _DAY) * _DAY

    @cached_property
    def _first(self) -> float | None:
        """The first time of the log whose line states a date."""
        heads = (head(line.text, self.year) for stretch in self._stretches for line in lines(stretch))
        return next((each.time for each in map(self._in_utc, heads) if each and each.time is not None), None)
