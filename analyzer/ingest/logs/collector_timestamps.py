"""What a collector says of when a line was printed.

A time before each line would part a traceback into lines. So it is taken off like every other mark, and put
back only where a record begins that tells no time of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from analyzer.ingest.logs.prefixes import head, seconds
from analyzer.ingest.logs.progress import is_progress

_NANOSECOND_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}(?:Z|[+-]\d\d:\d\d))(?: |$)")
"""Kubernetes and docker count nanoseconds; no program's own time does."""
_KEYS = ("timestamp", "time", "date", "@timestamp", "ts", "receiveTimestamp")
_NO_YEAR, _YEARLESS = 1970, 32e6
"""What a time without a year is taken for, and is less than then."""
_MILLISECONDS_FROM = 1e11
"""From here on, a number counts milliseconds since 1970, not seconds."""
_MAX_SKEW_SECONDS = 60.0
"""Seconds; where a program's own times differ by more, as in another zone, the two are not mixed."""
_RECORD_STARTS = ("Traceback (most recent call last):", "Fatal Python error: ")


def split_timestamp(text: str) -> tuple[str, str]:
    """The time that a collector put before a text, empty where there is none, and the text itself."""
    match = _NANOSECOND_TIMESTAMP.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def entry_time(entry: Mapping[str, object]) -> float | None:
    """When an entry of a log service was printed."""
    for key in _KEYS:
        value = entry.get(key)
        if isinstance(value, str) and (time := seconds(value)) is not None:
            return time
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
            return value / 1000 if value > _MILLISECONDS_FROM else float(value)
    return None


def iso_timestamp(entry: Mapping[str, object]) -> str:
    """The same as a text that a line can begin with."""
    time = entry_time(entry)
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


class TimestampStripper:
    """Goes through the lines of one stream, in order."""

    def __init__(self) -> None:
        """No line has been seen yet."""
        self.is_standalone = True
        """Whether a plain line is a record by itself, and does not go on with the one above it."""
        self.is_consistent = True

    def restore(self, line: str, timestamp: str) -> str:
        """A line, its time before it where that is known and nothing is broken by it."""
        if not timestamp or not self.is_consistent or not line.strip():
            return line
        found = head(line, _NO_YEAR)
        if found and found.time is not None:
            self.is_consistent = (
                found.time < _YEARLESS or abs(found.time - (seconds(timestamp) or 0)) < _MAX_SKEW_SECONDS
            )
        if is_progress(found.text if found else line):
            self.is_standalone = True
        elif found:
            self.is_standalone = False
        elif not self.is_standalone:
            return line
        elif line.startswith(_RECORD_STARTS):
            self.is_standalone = False
        return line if found and found.time is not None else f"{timestamp} {line}"
