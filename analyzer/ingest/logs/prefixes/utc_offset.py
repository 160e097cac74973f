"""Finds how far the local times of a log are from UTC, from lines of TensorFlow that count from 1970.

From 2.17 on, TensorFlow's C++ code begins its lines with the seconds since 1970, while the lines of Python's
loggers beside them are in the local time of the host.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.prefixes.time_formats import FIRST_HOUR

_DAY = 86_400
_STEP = 900
"""Offsets are multiples of it (s)."""
_COMMON_STEP = 1_800
"""Most are multiples of this (s): required where two lines alone tell the offset."""
_WESTERNMOST, _EASTERNMOST = -12 * 3_600, 14 * 3_600
_TOGETHER = 5.0
"""Largest distance (s) of two neighbouring lines, the offset aside, that tells it."""
_REACH = 20
"""How many lines may lie between them: those without a time, as the lines of a traceback."""
_MARK = "0000 00:00:"
"""Stands behind the level of a line that counts from 1970."""


def utc_offset(stretches: Iterable[Sequence[tuple[int, str]]], year: int) -> float | None:
    """Return the seconds by which the local times of a log are ahead of UTC.

    `stretches` are its numbered lines, `year` completes dates without one. None if no two lines that were
    written together tell it, or if most of those that could do not agree.
    """
    told = Counter(_told(stretches, year))
    if not told:
        return None
    offset, count = told.most_common(1)[0]
    agree = 2 * count > told.total() and (count > 1 or offset % _COMMON_STEP == 0)
    return float(offset) if agree else None


def _told(stretches: Iterable[Sequence[tuple[int, str]]], year: int) -> Iterator[int]:
    """Yield the offset that each line with seconds since 1970 tells together with a neighbour."""
    for stretch in stretches:
        for at, (_, text) in enumerate(stretch):
            if text.startswith(_MARK, 1) and (counted := head(text)) and counted.time:
                for near in (stretch[at + 1 : at + 1 + _REACH], stretch[max(0, at - _REACH) : at][::-1]):
                    local = _first_local(near, year)
                    offset = _difference(local, counted.time) if local else None
                    if offset is not None:
                        yield offset


def _first_local(lines: Iterable[tuple[int, str]], year: int) -> Head | None:
    """Return the prefix of the first line with a local time, up to the next that counts from 1970."""
    for _, text in lines:
        if text.startswith(_MARK, 1):
            return None
        found = head(text, year)
        if found and (found.time is not None or found.clock is not None):
            return None if found.zoned else found
    return None


def _difference(local: Head, utc: float) -> int | None:
    """Return the offset that two lines tell (s); None if they were not written together."""
    if local.time is not None:
        ahead = local.time - utc
    elif local.clock is not None and local.clock >= FIRST_HOUR:
        ahead = (local.clock - utc - _WESTERNMOST) % _DAY + _WESTERNMOST
    else:
        return None
    offset = round(ahead / _STEP) * _STEP
    return offset if _WESTERNMOST <= offset <= _EASTERNMOST and abs(ahead - offset) <= _TOGETHER else None
