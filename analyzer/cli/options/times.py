"""Durations and dates that options of several commands take."""

import re
from datetime import UTC, date, datetime

from analyzer.model.errors import UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def seconds(option: str, given: str) -> float:
    """Return a duration in seconds, given as `90`, `90s`, `15m`, `12h`, `3d` or `2w`."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw]?)", given)
    if not match:
        raise UsageError(f"{option} {given}: give a length of time, such as 90s, 15m, 12h or 3d")
    return float(match[1]) * _UNITS[match[2] or "s"]


def since(given: str, now: float) -> float:
    """Parse `--since`, a duration before `now` or a date, and return seconds since the epoch."""
    return now - seconds("--since", given) if given[-1] in _UNITS else timestamp("--since", given)


def timestamp(option: str, given: str) -> float:
    """Return a time in seconds since the epoch, given as such or as a date in UTC."""
    try:
        return float(given) if re.fullmatch(r"\d{9,11}(\.\d+)?", given) else _date_timestamp(given)
    except ValueError:
        advice = "give a length of time such as 3d, or a date such as 2026-11-20"
        raise UsageError(f"{option} {given}: {advice}") from None


def day(option: str, given: str) -> str:
    """Return a date as `YYYY-MM-DD`."""
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError(f"{option} {given}: give a date such as 2026-12-01") from None


def _date_timestamp(given: str) -> float:
    moment = datetime.fromisoformat(given)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
