"""Recognizes logs whose newest line comes first, as consoles of log services show and copy them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.prefixes.time_formats import seconds

_CHECKED_BYTES = 1 << 16
_ENOUGH = 6
"""Minimum number of lines that are older than the line above, to call a log reversed."""
_MAX_RISES = 0.1
"""Maximum number of lines that are newer than the line above, as a share of the older ones: the lines of
several writers are not quite in order."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_MAX_PREFIX_CHARS = 120


def is_newest_first(path: Path, opening: bytes) -> bool:
    """Return True if the lines of a log run from the newest to the oldest.

    `opening` holds the first bytes of the file; most logs are decided by them, without another read.

    Raises:
        OSError: the file cannot be read.
    """
    least = _ENOUGH if path.stat().st_size <= len(opening) else 0
    if not (_may_fall(opening) and _falls(_times(opening), least)):
        return False
    with path.open("rb") as file:
        first = file.read(_CHECKED_BYTES)
        size = file.seek(0, 2)
        file.seek(max(0, size - _CHECKED_BYTES))
        last = file.read()
    times, end = _times(first), _times(last)
    return _falls(times, _ENOUGH) and _falls(end, 1) and max(times) > min(end)


def _falls(times: Sequence[float], least: int) -> bool:
    falls = sum(after < before for before, after in pairwise(times))
    rises = sum(after > before for before, after in pairwise(times))
    return falls >= least and rises <= _MAX_RISES * falls


def _may_fall(data: bytes) -> bool:
    """Return False as soon as too many lines are newer than the one above for a reversed log."""
    lines = data.decode("utf-8", "replace").split("\n")
    rises, latest = 0, None
    for time in map(_time, lines):
        if time is None:
            continue
        rises += latest is not None and time > latest
        if rises > _MAX_RISES * len(lines):
            return False
        latest = time
    return True


def _times(data: bytes) -> list[float]:
    lines = data.decode("utf-8", "replace").split("\n")
    return [time for time in map(_time, lines) if time is not None]


def _time(line: str) -> float | None:
    found = head(line)
    if found and found.time is not None:
        return found.time
    date = _DATE.search(line, 0, _MAX_PREFIX_CHARS)
    return seconds(date[0]) if date else None
