"""Dates and times as the lines of logs write them: numbers in any order, names of months, 24 or 12 hours."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex

NO_YEAR = 1970
"""Year assumed where no line shows one; the file's modification time would be a guess."""
FIRST_HOUR = 3_600.0
"""Times (s since midnight) below this may count from the start of the program instead."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = len("2026-11-21 01:02:03")
_NOON = 12

_CLOCK = (
    r"(?P<clock>\d?\d:\d\d(?P<seconds>:\d\d(?:[.,]\d{1,9})?)?)(?: ?(?P<half>[AP]M)\b)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|(?:(?<!,\d{3} )|(?=\S+\]))[+-]\d\d:?\d\d)\b(?: [A-Z]{3,4}\b)?)?"
    r"(?![\w/%]|[.:,]\d)"
)
"""Regex for a time of day, of which only some programs omit the seconds.

Behind Python's milliseconds and a blank, a signed number is one of the message, not a time zone, unless a
bracket closes behind it.
"""
_WEEKDAY = rf"(?:(?:{'|'.join(DAYS)})[a-z]*,? )?"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})(?:uary|ruary|ch|il|e|y|ust|tember|t|ober|ember)?\.?(?!\w)"
_NUMBERS = lazy_regex(
    rf"(?P<a>\d{{1,4}})(?P<sign>[-/.])(?P<b>\d\d?)(?P=sign)(?P<c>\d{{1,4}})(?:[T_ -]|, ){_CLOCK}"
)
_DIGITS = lazy_regex(
    rf"(?P<year>20\d\d|\d\d)?(?P<number>\d\d)(?P<day>\d\d)[-T_ ](?:{_CLOCK}|(?P<digits>\d{{6}})Z?(?!\w))"
)
"""Also without century or year, in brackets: `[I 261121 01:40:37 web:21]`, `[1121 01:40:37 @base.py:20]`."""
_CJK = lazy_regex(rf"(?P<year>\d{{4}})年 ?(?P<number>\d\d?)月 ?(?P<day>\d\d?)日 ?{_CLOCK}")
_DAY_AND_MONTH = lazy_regex(
    rf"{_WEEKDAY}(?P<day>\d\d?)[-/ ]{_MONTH}(?:[-/ ](?P<year>\d{{4}}))?(?:[ :T]|, ){_CLOCK}"
)
_MONTH_AND_DAY = lazy_regex(
    rf"{_WEEKDAY}{_MONTH} {{1,2}}(?P<day>\d\d?)(?:,? (?P<year>\d{{4}}))?,? {_CLOCK}"
    r"(?: (?P<last_year>\d{4})(?!\d))?"
)
_NO_YEAR = lazy_regex(rf"(?P<a>\d\d)(?P<sign>[-/])(?P<b>\d\d) {_CLOCK}")
_TIME_OF_DAY = lazy_regex(_CLOCK)


class Stamp(NamedTuple):
    """A time within a line, in seconds since 1970, and where it ends.

    If the line states no date, `clock` is the time of day, in seconds since midnight, and `time` is None.
    """

    time: float | None
    clock: float | None
    end: int
    zoned: bool = False
    """True if the zone stands behind the time."""


def stamp(line: str, at: int, year: int = NO_YEAR) -> Stamp | None:
    """Return the time that stands at a place of a line; None if none does. `year` completes one without."""
    if ":" in line[at + 1 : at + 3]:
        match = _TIME_OF_DAY.match(line, at)
        is_one = match and match["seconds"] and (match["half"] or (not match["zone"] and line[at + 2] == ":"))
        return Stamp(None, _seconds_of("1970-01-01", match), match.end()) if match and is_one else None
    for expression, read in _OF_NAMES if line[at : at + 1].isalpha() else _OF_NUMBERS:
        if match := expression.match(line, at):
            time = read(match, year)
            zoned = match["zone"] is not None
            return None if time is None else Stamp(time, None, match.end(), zoned)
    return None


def calendar_time(month: str, day: str, clock: str, year: str | int) -> float | None:
    """Return a date with an abbreviated month name as seconds since 1970; None if the date is invalid."""
    return seconds(f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d} {clock}")


def seconds(text: str) -> float | None:
    """Return a date and time in ISO 8601 as seconds since 1970; None if the text is not one."""
    fraction = text[_WHOLE + 1 :]
    if text[_WHOLE : _WHOLE + 1] not in {".", ","} or not (fraction.isascii() and fraction.isdigit()):
        return _moment(text)
    whole = _moment(text[:_WHOLE])
    return None if whole is None else (int(whole) * 10**6 + int(f"{fraction:0<6.6}")) / 10**6


@lru_cache(maxsize=1024)
def _moment(text: str) -> float | None:
    """Parse a date to seconds since 1970; cached, since many lines share one second."""
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _of_numbers(match: re.Match[str], _: int) -> float | None:
    """Parse numbers of which one has four digits, the year.

    If it is the last one, the month is first before slashes (the day is, if the first number is above 12),
    and second before dots and dashes.
    """
    first, second, third, sign = match["a"], match["b"], match["c"], match["sign"]
    if len(first) == len("2026"):
        return _on(first, second, third, match)
    if len(third) != len("2026") or not match["seconds"]:
        return None
    is_month_first = int(second) > len(MONTHS) or (sign == "/" and int(first) <= len(MONTHS))
    return _on(third, first, second, match) if is_month_first else _on(third, second, first, match)


def _of_digits(match: re.Match[str], year: int) -> float | None:
    """Parse `20261122`; also `261122` and `1122`, but only behind a bracket or a level."""
    stated, digits = match["year"] or str(year), match["digits"]
    if (not match["year"] or len(stated) < len("2026")) and (digits or not match.start()):
        return None
    whole = stated if len(stated) == len("2026") else f"20{stated}"
    if digits:
        clock = f"{digits[:2]}:{digits[2:4]}:{digits[4:]}"
        return seconds(f"{whole}-{match['number']}-{match['day']} {clock}")
    return _on(whole, match["number"], match["day"], match)


def _of_cjk(match: re.Match[str], _: int) -> float | None:
    return _on(match["year"], match["number"], match["day"], match)


def _of_month_name(match: re.Match[str], year: int) -> float | None:
    stated = match["year"] or match.groupdict().get("last_year")
    return _on(stated or year, MONTHS.index(match["month"]) + 1, match["day"], match)


def _without_year(match: re.Match[str], year: int) -> float | None:
    first, second = match["a"], match["b"]
    month, day = (second, first) if int(first) > len(MONTHS) else (first, second)
    return _on(year, month, day, match) if match["seconds"] else None


_Format = tuple[re.Pattern[str], Callable[[re.Match[str], int], float | None]]
_OF_NAMES: tuple[_Format, ...] = ((_MONTH_AND_DAY, _of_month_name), (_DAY_AND_MONTH, _of_month_name))
_OF_NUMBERS: tuple[_Format, ...] = (
    (_NUMBERS, _of_numbers),
    (_NO_YEAR, _without_year),
    (_DIGITS, _of_digits),
    (_DAY_AND_MONTH, _of_month_name),
    (_CJK, _of_cjk),
)
"""Formats that begin with a name, or with a number."""


def _on(year: str | int, month: str | int, day: str, match: re.Match[str]) -> float | None:
    """Return the time of a date, given as numbers, and of the matched time of day, in seconds since 1970."""
    return _seconds_of(f"{year}-{int(month):02d}-{int(day):02d}", match)


def _seconds_of(date: str, match: re.Match[str]) -> float | None:
    """Return the time of an ISO date and of the matched time of day and zone, in seconds since 1970.

    None if there is no such date or hour, as February 30 or 13 PM.
    """
    hour, _, rest = match["clock"].partition(":")
    shown = int(hour)
    if match["half"]:
        if not 1 <= shown <= _NOON:
            return None
        shown = shown % _NOON + _NOON * (match["half"] == "PM")
    zone = match["zone"] if (match["zone"] or "")[:1] in {"+", "-"} else ""
    clock = f"{shown:02d}:{rest}" if match["seconds"] else f"{shown:02d}:{rest}:00"
    time = seconds(f"{date} {clock}")
    ahead = seconds(f"1970-01-01 00:00:00{zone}") if zone else 0.0
    return None if time is None or ahead is None else time + ahead
