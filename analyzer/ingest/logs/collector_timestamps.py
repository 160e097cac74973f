"""Timestamps that a collector put before each line of a log.

A timestamp before every line would split a traceback into records. It is removed with the rest of the
collector's prefix, and put back only at the start of a record that has no time of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from analyzer.ingest.logs.prefixes import head, seconds
from analyzer.ingest.logs.progress import is_progress

_NANOSECOND_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}(?:Z|[+-]\d\d:\d\d))(?: |$)")
"""RFC 3339 with 7 to 9 fractional digits: Kubernetes and docker write these, programs do not."""
_KEYS = ("timestamp", "time", "date", "@timestamp", "ts", "receiveTimestamp")
_NO_YEAR, _YEARLESS = 1970, 32e6
"""Year assumed for formats without one, and the largest time (in seconds) that it yields."""
_MILLISECONDS_FROM = 1e11
"""Numbers from here on are milliseconds since 1970; smaller ones are seconds."""
_MAX_SKEW_SECONDS = 60.0
"""If the program's own times differ by more (another time zone), collector times are not used."""
_RECORD_STARTS = ("Traceback (most recent call last):", "Fatal Python error: ")


def split_timestamp(text: str) -> tuple[str, str]:
    """Split a line into the collector's timestamp, empty if there is none, and the text."""
    match = _NANOSECOND_TIMESTAMP.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def entry_time(entry: Mapping[str, object]) -> float | None:
    """Return when an entry of a log service was printed, in seconds since 1970."""
    for key in _KEYS:
        value = entry.get(key)
        if isinstance(value, str) and (time := seconds(value)) is not None:
            return time
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
            return value / 1000 if value > _MILLISECONDS_FROM else float(value)
    return None


def iso_timestamp(entry: Mapping[str, object]) -> str:
    """Return `entry_time` as ISO 8601, or an empty string."""
    time = entry_time(entry)
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


class TimestampStripper:
    """Decides, for the lines of one stream in order, which ones get their collector timestamp back."""

    def __init__(self) -> None:
        """Start before the first line."""
        self.is_standalone = True
        """True while plain lines are records of their own rather than continuations."""
        self.is_consistent = True

    def restore(self, line: str, timestamp: str) -> str:
        """Return the line, with the timestamp in front where it starts a record without a time."""
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
