"""Finds how far the local times of a log are from UTC, from lines of TensorFlow that state UTC.

From 2.17 on, TensorFlow's C++ code begins its lines with the seconds since 1970, while the lines of Python's
loggers beside them are in the local time of the host. In all releases, an error of gRPC says when it was
made, in seconds since 1970 or with the offset from UTC, below or behind the line that reports it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.prefixes.time_formats import FIRST_HOUR, seconds
from analyzer.model.lazy_regex import lazy_regex

Stretch = Sequence[tuple[int, str]]
"""Numbered lines that follow one another in a log."""

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
_MADE = lazy_regex(
    r'created(?:\\?":|_time:)\\?"(?:@(?P<counted>1\d{9}\.\d+)|(?P<iso>2\d{3}-\d\d-\d\dT[\d:.]{8,20}(?:[+-]\d\d:\d\d|Z)))'
)
"""When gRPC made an error."""


def utc_offset(stretches: Iterable[Stretch], year: int) -> float | None:
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


def _told(stretches: Iterable[Stretch], year: int) -> Iterator[int]:
    """Yield the offset that each line that states UTC tells together with a neighbour."""
    for stretch in stretches:
        for at in range(len(stretch)):
            for utc, near in _beside(stretch, at):
                local = _first_local(near, year)
                offset = _difference(local, utc) if local else None
                if offset is not None:
                    yield offset


def _beside(stretch: Stretch, at: int) -> Iterator[tuple[float, Stretch]]:
    """Yield the time that a line states in UTC (s since 1970), with the lines near it, the closest first."""
    _, text = stretch[at]
    if text.startswith(_MARK, 1):
        if (counted := head(text)) and counted.time:
            yield counted.time, stretch[at + 1 : at + 1 + _REACH]
            yield counted.time, stretch[max(0, at - _REACH) : at][::-1]
    elif "created" in text and (made := _time_made(text)):
        yield made, stretch[max(0, at - _REACH) : at + 1][::-1]


def _time_made(text: str) -> float | None:
    """Return when gRPC made the first error in a line, in seconds since 1970; None if the line shows none."""
    if not (match := _MADE.search(text)):
        return None
    return float(match["counted"]) if match["counted"] else seconds(match["iso"])


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
