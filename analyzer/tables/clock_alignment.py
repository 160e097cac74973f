"""Compares times of several clocks, and converts them to a common one."""

from math import ceil

import polars as pl

_ZONE_STEP_SECONDS = 900
_DAY_SECONDS = 86_400


def in_other_zone(one: float, other: float, tolerance: float) -> bool:
    """Return True if two times (s) may be one moment by the clocks of two time zones, or by one clock.

    Time zones differ by a multiple of 15 minutes, and by less than a day.
    """
    apart = abs(one - other)
    beyond = min(apart % _ZONE_STEP_SECONDS, -apart % _ZONE_STEP_SECONDS)
    return beyond <= tolerance and apart < _DAY_SECONDS - tolerance


def in_span_of_any_zone(time: float, first: float, last: float) -> bool:
    """Return True if a time (s) may lie between two others, by the clock of another time zone or the same."""
    if first <= time <= last:
        return True
    nearest = (
        ceil((first - time) / _ZONE_STEP_SECONDS) if time < first else (last - time) // _ZONE_STEP_SECONDS
    )
    shift = nearest * _ZONE_STEP_SECONDS
    return first <= time + shift <= last and abs(shift) < _DAY_SECONDS


class CommonClock:
    """Applies the shifts of the table `clocks`; times of a worker whose clock is unknown stay as they are."""

    def __init__(self, clocks: pl.DataFrame, sources: pl.DataFrame) -> None:
        rows = clocks[["worker", "kind", "shift"]].iter_rows()
        self._shifts: dict[tuple[str, str], float | None] = {(w, kind): shift for w, kind, shift in rows}
        self._kinds: dict[str, str] = dict(sources[["source", "kind"]].iter_rows())

    def knows(self, worker: str) -> bool:
        """Return whether times of a worker can be compared with those of its peers."""
        return any(self._shifts.get((worker, kind)) is not None for kind in ("log", "event_file"))

    def time(self, worker: str | None, source: str | None, time: float | None) -> float | None:
        """Return a time from a source of a worker, converted to the common clock."""
        return self.of_kind(worker, self._kinds.get(source or "", "log"), time)

    def of_kind(self, worker: str | None, kind: str, time: float | None) -> float | None:
        """Return a time from a worker's sources of one kind, converted to the common clock."""
        shift = self._shifts.get((worker or "", kind))
        return time if time is None or shift is None else time - shift
