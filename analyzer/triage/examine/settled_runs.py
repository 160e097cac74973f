"""Looks up settled runs of an object store: nobody writes to them any more, so they are not listed again."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analyzer.triage.dates import DAY_SECONDS, date_of

QUIET_SECONDS = 2 * DAY_SECONDS
"""Seconds without a write after which a run is settled, and its directory is not listed any more."""
_DATE = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)")


class StoredRun(NamedTuple):
    """A run of the history: its stamp and night, and its number of files if it is settled."""

    place: str
    stamp: str
    night: str
    files: int | None = None


class SettledRuns:
    """The runs of the history below one root, and the directories above them."""

    def __init__(self, runs: Iterable[StoredRun] = (), now: float = 0.0) -> None:
        """Index the runs; `now` is in seconds since the epoch."""
        self._runs = sorted(runs)
        self._quiet_since = date_of(now - QUIET_SECONDS)
        self.files: dict[str, int] = defaultdict(int)
        """Directories above runs, with the number of files of the settled runs below them."""
        self._active: set[str] = set()
        for run in self._runs:
            for above in parents(run.place):
                self.files[above] += run.files or 0
                self._active |= {above} if run.files is None else set()

    def at(self, place: str) -> list[StoredRun]:
        """Return the stored runs at or below a place that need not be listed again, else an empty list.

        The place is a settled run, or a directory that is named after a past date and has only settled runs.
        """
        at = bisect_left(self._runs, (place,))
        if at < len(self._runs) and self._runs[at].place == place:
            return self._runs[at : at + 1] if self._runs[at].files is not None else []
        if place not in self.files or place in self._active or not self._is_past(place):
            return []
        first, end = (bisect_left(self._runs, (place + after,)) for after in "/0")  # `0` follows `/`
        return self._runs[first:end]

    def _is_past(self, place: str) -> bool:
        named = _DATE.fullmatch(place.rpartition("/")[2])
        return named is not None and "-".join(named.groups()) < self._quiet_since


def parents(place: str) -> Iterator[str]:
    """Yield the directories above a URL, the nearest first."""
    while "://" in (place := place.rpartition("/")[0]):
        yield place


NONE_KNOWN = SettledRuns()
