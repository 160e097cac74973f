"""Times of several workers as one clock would have shown them."""

from __future__ import annotations

import polars as pl


class CommonClock:
    """What the table `clocks` says, applied: a time of a worker whose clock is unknown stays as it is."""

    def __init__(self, clocks: pl.DataFrame, sources: pl.DataFrame) -> None:
        rows = clocks.select("worker", "kind", "shift").iter_rows()
        self._shifts: dict[tuple[str, str], float | None] = {(w, kind): shift for w, kind, shift in rows}
        self._kinds: dict[str, str] = dict(sources.select("source", "kind").iter_rows())

    def knows(self, worker: str) -> bool:
        """Whether times of a worker can be compared with those of its peers."""
        return any(self._shifts.get((worker, kind)) is not None for kind in ("log", "event_file"))

    def time(self, worker: str | None, source: str | None, time: float | None) -> float | None:
        """A time that stands in a source of a worker."""
        return self.of_kind(worker, self._kinds.get(source or "", "log"), time)

    def of_kind(self, worker: str | None, kind: str, time: float | None) -> float | None:
        """A time that stands in any source of one kind of a worker."""
        shift = self._shifts.get((worker or "", kind))
        return time if time is None or shift is None else time - shift
