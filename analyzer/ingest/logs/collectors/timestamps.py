"""Timestamps that a collector put before each line of a log.

A timestamp before every line would split a traceback into records. It is removed with the rest of the
collector's prefix, and put back only at the start of a record that has no time of its own.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from analyzer.ingest.logs.collectors.structured import TIME_KEYS, payload
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.prefixes.time_formats import MONTHS, calendar_time, seconds
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.ingest.logs.progress.printed_tables import TableReader

_NANOSECOND_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}(?:Z|[+-]\d\d:\d\d))(?: |$)")
"""RFC 3339 with 7 to 9 fractional digits: Kubernetes and docker write these, programs do not."""
_TAI64N = re.compile(r"@40000000(?P<seconds>[0-9a-f]{8})(?P<nanoseconds>[0-9a-f]{8})(?: |$)")
"""TAI64N, as multilog and s6-log write it, in hexadecimal digits."""
_TAI_AHEAD = 10
"""Seconds by which daemontools counts TAI ahead of Unix time."""
_KIBANA = re.compile(
    rf"(?P<month>{'|'.join(MONTHS)}) (?P<day>\d{{1,2}}), (?P<year>\d{{4}})"
    r" @ (?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)"
)
_YEARLESS = 32e6
"""The largest time (in seconds) of a line without a year."""
_TIME_NAMES = frozenset({"timestamp", "time", "datetime", "timereported", "timegenerated"})
"""Names of the time, in lower case and without signs: OpenObserve has `_timestamp`, Tencent's CLS `Time`."""
_MILLISECONDS_FROM = 1e11
"""Numbers from these on are of a smaller unit; smaller ones are seconds."""
_DAY = 86_400
_MAX_SKEW_SECONDS = 60.0
"""If the program's own times differ by more (another time zone), collector times are not used."""
_RECORD_STARTS = ("Traceback (most recent call last):", "Fatal Python error: ")


def split_timestamp(text: str) -> tuple[str, str]:
    """Return the timestamp of a collector before a line, empty if there is none, and the rest."""
    if text[:1] == "@" and (match := _TAI64N.match(text)):
        time = datetime.fromtimestamp(int(match["seconds"], 16) - _TAI_AHEAD, UTC)
        fraction = min(int(match["nanoseconds"], 16), 999_999_999)
        return f"{time:%Y-%m-%dT%H:%M:%S}.{fraction:09}Z", text[match.end() :]
    match = _NANOSECOND_TIMESTAMP.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def entry_time(entry: Mapping[str, object]) -> float | None:
    """Return when an entry of a log service was printed, in seconds since 1970."""
    for fields in (entry, payload(entry)):
        for key in (*TIME_KEYS, *(each for each in fields if each.strip("@_").lower() in _TIME_NAMES)):
            value = fields.get(key)
            value = value.get("timestamp") if isinstance(value, dict) else value
            if isinstance(value, str) and (time := seconds(value) or _of_console(value)) is not None:
                return time
            if (time := _epoch_seconds(value)) is not None:
                return time
    return None


def _of_console(value: str) -> float | None:
    """Return a time as a log service shows it, in seconds since 1970.

    Kibana has `Nov 26, 2026 @ 00:03:35.856`, Azure `11/26/2026, 12:03:35.856 AM`.
    """
    if match := _KIBANA.fullmatch(value):
        return calendar_time(match["month"], match["day"], match["clock"], match["year"])
    found = head(f"{value} ")
    return found and found.time


def _epoch_seconds(value: object) -> float | None:
    """Return seconds since 1970 from a number of seconds, milliseconds, microseconds or nanoseconds."""
    is_number = isinstance(value, int | float) or re.fullmatch(r"\d{10,16}|1\d{18}", str(value))
    if isinstance(value, bool) or not is_number:
        return None
    number = float(str(value))
    scale = next((scale for scale in (1, 1e3, 1e6, 1e9) if number < scale * _MILLISECONDS_FROM), None)
    return number / scale if scale and number > 0 else None


def iso_timestamp(entry: Mapping[str, object]) -> str:
    """Return `entry_time` as ISO 8601, or an empty string."""
    time = entry_time(entry)
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _agree(own: float, timestamp: str) -> bool:
    """Return whether a program's time and a collector's, which may lack the year or the date, are close."""
    found = head(f"{timestamp} ")
    time = None if found is None else found.clock if found.time is None else found.time
    if time is None:
        return False
    apart = abs(own - time)
    if time < _YEARLESS:
        apart = min(apart % _DAY, -apart % _DAY)
    return apart < _MAX_SKEW_SECONDS


def is_of_another_day(text: str, timestamp: str) -> bool:
    """Return True if the time at the start of a text is more than 24 hours from a collector's timestamp."""
    own = _dated(text)
    added = None if own is None else _dated(f"{timestamp} ")
    return own is not None and added is not None and abs(own - added) > _DAY


def _dated(text: str) -> float | None:
    """Return the time at the start of a text; None if it has none, or one without a year."""
    found = head(text)
    return None if found is None or found.time is None or found.time < _YEARLESS else found.time


class TimestampStripper:
    """Decides, for the lines of one stream in order, which ones get their collector timestamp back."""

    def __init__(self) -> None:
        """Create for a stream of which no line has been read."""
        self.is_standalone = True
        """True while plain lines are records of their own rather than continuations."""
        self.is_consistent = True
        self._follows_head = False
        """True while lines that are not indented have a prefix: an indented one continues it."""
        self._printed = TableReader()

    def restore(self, line: str, timestamp: str) -> str:
        """Return the line, preceded by its timestamp if it starts a record that has no time."""
        if not timestamp or not self.is_consistent or not line.strip():
            return line
        found = head(line)
        if found and found.time is not None:
            self.is_consistent = found.time < _YEARLESS or _agree(found.time, timestamp)
        if line[:1].isspace() and self._follows_head:
            return line
        self._follows_head = found is not None
        body = found.text if found else line
        if is_progress(body) or self._printed.points(body):
            self.is_standalone = True
        elif found:
            self.is_standalone = False
        elif not self.is_standalone:
            return line
        elif line.startswith(_RECORD_STARTS):
            self.is_standalone = False
        has_time = found and (
            found.time is not None or (found.clock is not None and not _dated(f"{timestamp} "))
        )
        return line if has_time else f"{timestamp} {line}"
