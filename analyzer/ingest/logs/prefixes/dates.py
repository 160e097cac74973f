"""Completes the times of a log's lines that state no year, or no date, from the lines around them."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.text import lines

_HALF_A_YEAR = 183 * 86_400
"""In seconds; records further apart than this lie in different years if the log shows none."""
_DAY = 86_400
FIRST_HOUR = 3_600.0
"""Times (s since midnight) below this may count from the start of the program instead."""
SAME_START = 900.0
"""Largest distance (s) from a line with a date at which they are times of day."""

Stretch = Sequence[tuple[int, str]]
"""Numbered lines that follow one another in a log."""


class Dates:
    """Year and dates of one log.

    A time of day gets the date that brings it closest to the line with a time above it, and the first one to
    the first line that states a date. In a log without any date, the times count from midnight in 1970.
    """

    def __init__(self, year: int, stretches: Iterable[Stretch] = ()) -> None:
        """Create for a log; `year` completes times that lack one, `stretches` is what is read of the log."""
        self.year = year
        self._stretches = stretches
        self._counts_from_start: bool | None = None
        """True if its times count from the start of the program; None until the first of them."""

    @property
    def lacks_date(self) -> bool:
        """Return True if the log has times of day, and no date, in what has been read of it."""
        return self._counts_from_start is not None and self._first is None

    def head(self, text: str, near: float | None) -> Head | None:
        """Parse the prefix of a line; `near` is the time of the line above it, in seconds since 1970."""
        found = head(text, self.year)
        if found is None:
            return None
        if found.clock is not None:
            return found._replace(time=self._closest_day(found.clock, near))
        if found.time is None or near is None or abs(found.time - near) < _HALF_A_YEAR:
            return found
        moved = head(text, self.year + (1 if found.time < near else -1))
        return moved if moved and moved.time and abs(moved.time - near) < _HALF_A_YEAR else found

    def _closest_day(self, clock: float, near: float | None) -> float | None:
        """Return a time of day as seconds since 1970; None if it counts from the start of the program."""
        if self._counts_from_start is None:
            self._counts_from_start = clock < FIRST_HOUR and not self._is_near(clock, near)
        if self._counts_from_start:
            return None
        return _on_closest_day(clock, self._first if near is None else near)

    def _is_near(self, clock: float, near: float | None) -> bool:
        dated = self._first if near is None else near
        return dated is None or abs(_on_closest_day(clock, dated) - dated) <= SAME_START

    @cached_property
    def _first(self) -> float | None:
        """The first time of the log whose line states a date."""
        found = (head(line.text, self.year) for stretch in self._stretches for line in lines(stretch))
        return next((each.time for each in found if each and each.time is not None), None)


def _on_closest_day(clock: float, near: float | None) -> float:
    return clock if near is None else clock + round((near - clock) / _DAY) * _DAY
