"""Compares times of several clocks, and converts them to a common one."""

from math import ceil, floor

import polars as pl

ZONE_STEP_SECONDS = 900
"""Time zones differ by a multiple of it, and by less than a day."""
_DAY_SECONDS = 86_400


def in_other_zone(one: float, other: float, tolerance: float) -> bool:
    """Return True if two times (s) may be the same moment, be it in one time zone or in two."""
    return in_span_of_any_zone(one, other - tolerance, other + tolerance)


def in_span_of_any_zone(time: float, first: float, last: float) -> bool:
    """Return True if `time` (s) is between `first` and `last` when its clock may be in any time zone."""
    if first <= time <= last:
        return True
    steps = (first - time) / ZONE_STEP_SECONDS if time < first else (last - time) / ZONE_STEP_SECONDS
    shift = (ceil(steps) if time < first else floor(steps)) * ZONE_STEP_SECONDS
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
