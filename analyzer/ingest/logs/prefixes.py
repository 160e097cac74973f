"""Prefixes of log lines: TensorFlow's C++ and Python loggers, absl, gRPC, `logging`, syslog, JSON.

Each style yields time, level and origin, and the text after the prefix. Years that a style omits are taken
from the last line that had one. Times without a zone are read as UTC.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex

LEVEL_NAMES = {
    "DEBUG": "I", "INFO": "I", "NOTICE": "I", "WARNING": "W", "WARN": "W", "ERROR": "E", "EXCEPTION": "E",
    "CRITICAL": "E", "FATAL": "F", "TRACE": "I", "SUCCESS": "I",
}  # fmt: skip
"""Level names of Python's loggers → TensorFlow's letters; F means that native code aborts the process."""
_LEVELS = "|".join(LEVEL_NAMES)
_CLOCK_TIME = r"[\[(]?(?P<clock>\d\d:\d\d:\d\d(?:[.,]\d+)?)(?: ?(?P<half>[AP]M))?[\])]?(?=[ |:\t])"
"""Regex for a time of day before the text of a line."""
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"

_CLASSIC = lazy_regex(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+): ([IWEFD]) (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_ABSL = lazy_regex(r"([IWEFD])0000 00:00:(\d+\.\d+)\s+\d+ (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_GLOG = lazy_regex(r"([IWEFD])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)\s+\d+ (\S+?):(\d+)\]\s?(.*)", re.DOTALL)
_UNDATED = lazy_regex(r"([IWEF]) (tensorflow/\S+?):(\d+)\] ?(.*)", re.DOTALL)
"""Regex for the prefix of TensorFlow before 1.1, which has no time."""
_LOGGER = lazy_regex(rf"({_LEVELS}):([A-Za-z_][\w.]*):\s?(.*)", re.DOTALL)
_DATED = lazy_regex(rf"[\[(]?({_DATE})[\])]?(.*)", re.DOTALL)
_YEAR_LAST = lazy_regex(
    r"[\[(]?(\d\d)([/.])(\d\d)\2(\d{4}),? (\d\d:\d\d:\d\d(?:[.,]\d+)?)[\])]?(.*)", re.DOTALL
)
"""A date with its month first, as Hugging Face's example scripts set it; the day first if it is above 12, or
before a dot."""
_NO_YEAR = lazy_regex(
    r"[\[(]?(0[1-9]|1[0-2])([-/])([0-3]\d) (\d\d:\d\d:\d\d(?:[.,]\d+)?)[\])]?(?=[ |:\t])(.*)", re.DOTALL
)
"""Month and day without a year, as loguru's users and Android's logger print them: `11-27 03:40:07`."""
_YEAR_SHORT = lazy_regex(
    r"(\d\d)/(0[1-9]|1[0-2])/([0-3]\d) (\d\d:\d\d:\d\d)(?= (?:INFO|WARN|ERROR|DEBUG|FATAL) [\w$.]+: )(.*)",
    re.DOTALL,
)
"""A date as Spark and Hadoop write it, with two digits of the year in front of the month."""
_CJK_DATE = lazy_regex(
    r"[\[(]?(\d{4})年 ?(\d\d?)月 ?(\d\d?)日 ?(\d\d:\d\d:\d\d(?:[.,]\d+)?)[\])]?(.*)", re.DOTALL
)
"""A date as Chinese and Japanese write it: `2026年11月26日 17:38:19`."""
_LEVEL_FIRST = lazy_regex(
    rf"[\[(]?(?P<level>{_LEVELS})[\])]?[ :-]+[\[(]?(?P<time>{_DATE})[\])]?(?P<text>.*)", re.DOTALL
)
_LEVEL_CLOCK = lazy_regex(
    rf"[\[(]?(?P<level>{_LEVELS})[\])]?[ :-]+{_CLOCK_TIME}(?P<text>.*)",
    re.DOTALL,
)
"""A level and a time of day without a date."""
_LEVEL = lazy_regex(rf"\W{{0,4}}\b({_LEVELS})\b\W?(.*)", re.DOTALL)
_NAME_LEVEL = lazy_regex(rf"\W{{0,4}}([\w.]+)\W{{1,3}}({_LEVELS})\b\W?")
_EPOCH = lazy_regex(
    rf"(?:\[(1\d{{9}}(?:\.\d+)?)\]|(1\d{{9}}\.\d+)|(1\d{{9}})(?= (?:{_LEVELS})\b))[ :](.*)", re.DOTALL
)
"""Seconds since 1970; a bare integer is a time only before a level."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SYSLOG = lazy_regex(
    rf"\[?(?:(?:{'|'.join(_DAYS)}) )?(?P<month>{'|'.join(MONTHS)}) "
    r"{1,2}(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)(?: (?P<year>\d{4}))?\]? (?P<text>.*)",
    re.DOTALL,
)
_RFC5424 = lazy_regex(
    rf"<(?P<priority>\d{{1,3}})>1 (?P<time>{_DATE}) \S+ (?P<program>\S+) \S+ \S+ "
    r"(?:-|(?:\[[^\]]*\])+) ?(?P<text>.*)",
    re.DOTALL,
)
"""Regex for syslog as RFC 5424 has it, where the program's own logger writes it."""
_SEVERITIES = "EEEEWIII"
"""Level of each severity of syslog, from emergency to debug."""
_WHOLE = len("2026-11-21 01:02:03")
NO_YEAR = 1970
"""Year assumed where no line shows one; the file's modification time would be a guess."""
_JSON_TIME = lazy_regex(
    rf'"(?:@?time(?:stamp)?|ts|asctime|datetime)"\s*:\s*(?:"({_DATE})"|(1\d{{9}}(?:\.\d+)?)\b)', re.IGNORECASE
)
_JSON_LEVEL = lazy_regex(rf'"(?:level(?:name)?|severity)"\s*:\s*"({_LEVELS})"', re.IGNORECASE)
_NAMED = lazy_regex(r"\W{0,3}([A-Za-z_][\w.]*)(?:\[\d+\]|:[\w<>.]+:\d+)?\s?[:\]|-]+ (.*)", re.DOTALL)
"""The name of a logger, with a process id or, as loguru prints it, function and line."""
_CLOCK = lazy_regex(rf"{_CLOCK_TIME}(?P<text>.*)", re.DOTALL)
"""A time of day without a date."""
_FIRST_CHARACTERS = frozenset("0123456789[({<" + "".join(name[0] for name in (*LEVEL_NAMES, *MONTHS, *_DAYS)))
"""What a prefix can begin with: a digit, a bracket, a level, or the name of a month or a day."""


class Head(NamedTuple):
    """The prefix of a log line and the text behind it; `kind` names the logger: cpp, python or plain."""

    kind: str
    time: float | None
    level: str | None
    origin: str | None
    text: str
    clock: float | None = None
    """Time of day in seconds since midnight, of a line that states no date."""


def head(line: str, year: int = NO_YEAR) -> Head | None:
    """Parse the prefix of a line, None if it has none; `year` completes styles without one."""
    first = line[:1]
    if first not in _FIRST_CHARACTERS:
        return None
    if first in "IWEFD" and (found := _letter_first(line, year)):
        return found
    if first.isdigit():
        if match := _CLASSIC.match(line):
            return Head("cpp", seconds(match[1]), match[2], _basename(match[3]), match[5])
    elif match := _LOGGER.match(line):
        return Head("python", None, LEVEL_NAMES[match[1]], match[2], match[3])
    elif found := _level_first(line):
        return found
    if (match := _DATED.match(line)) and (time := seconds(match[1])) is not None:
        return _dated(time, match[2])
    if first == "{":
        return _json(line)
    if first in "1[" and (match := _EPOCH.match(line)):
        return _dated(float(match[1] or match[2] or match[3]), f" {match[4]}")
    return _rarer(line, year)


def _level_first(line: str) -> Head | None:
    if match := _LEVEL_FIRST.match(line):
        return _python(seconds(match["time"]), LEVEL_NAMES[match["level"]], match["text"])
    if match := _LEVEL_CLOCK.match(line):
        return _python(None, LEVEL_NAMES[match["level"]], match["text"])._replace(clock=_time_of_day(match))
    return None


def _year_last(match: re.Match[str]) -> Head | None:
    is_month_first = match[2] == "/" and int(match[1]) <= len(MONTHS)
    month, day = (match[1], match[3]) if is_month_first else (match[3], match[1])
    time = seconds(f"{match[4]}-{month}-{day} {match[5]}")
    return None if time is None else _dated(time, match[6])


def _yearless(match: re.Match[str], year: int) -> Head | None:
    time = seconds(f"{year}-{match[1]}-{match[3]} {match[4]}")
    return None if time is None else _dated(time, match[5])


def _year_short(match: re.Match[str]) -> Head | None:
    time = seconds(f"20{match[1]}-{match[2]}-{match[3]} {match[4]}")
    return None if time is None else _dated(time, match[5])


def _cjk(match: re.Match[str]) -> Head | None:
    time = seconds(f"{match[1]}-{match[2]:0>2}-{match[3]:0>2} {match[4]}")
    return None if time is None else _dated(time, match[5])


def _rarer(line: str, year: int) -> Head | None:
    """Parse dates whose year is last, missing, short or Chinese, times of day, and syslog or `dmesg`."""
    if line[:1] == "<":
        return _rfc5424(line)
    if match := _YEAR_LAST.match(line):
        return _year_last(match)
    if match := _NO_YEAR.match(line):
        return _yearless(match, year)
    if match := _YEAR_SHORT.match(line):
        return _year_short(match)
    if match := _CJK_DATE.match(line):
        return _cjk(match)
    if match := _CLOCK.match(line):
        return _dated(None, match["text"])._replace(clock=_time_of_day(match))
    if line[:1] not in "[JFMASONDTW" or not (match := _SYSLOG.match(line)):
        return None
    time = calendar_time(match["month"], match["day"], match["clock"], match["year"] or year)
    return None if time is None else Head("plain", time, None, None, match["text"])


def _rfc5424(line: str) -> Head | None:
    if not (match := _RFC5424.match(line)) or (time := seconds(match["time"])) is None:
        return None
    return Head(
        "python", time, _SEVERITIES[int(match["priority"]) % 8], match["program"], match["text"].strip()
    )


def _json(line: str) -> Head | None:
    """Parse time and level of a JSON line; the text stays whole, since its other fields are values."""
    if not (match := _JSON_TIME.search(line, 0, 2_000)):
        return None
    time = seconds(match[1]) if match[1] else float(match[2])
    level = _JSON_LEVEL.search(line, 0, 2_000)
    return Head("plain", time, LEVEL_NAMES[level[1].upper()] if level else None, None, line)


def _letter_first(line: str, year: int) -> Head | None:
    """Parse the prefixes of absl and glog, whose level comes first, and of TensorFlow before 1.1."""
    if match := _ABSL.match(line):
        return Head("cpp", float(match[2]), match[1], _basename(match[3]), match[5])
    if match := _GLOG.match(line):
        time = seconds(f"{year}-{match[2]}-{match[3]} {match[4]}")
        kind = "python" if match[5].endswith(".py") else "cpp"  # absl's Python logger writes the same prefix
        return Head(kind, time, match[1], _basename(match[5]), match[7])
    match = _UNDATED.match(line)
    return Head("cpp", None, match[1], _basename(match[2]), match[4]) if match else None


def _dated(time: float | None, rest: str) -> Head:
    if match := _LOGGER.match(rest.lstrip()):
        return Head("python", time, LEVEL_NAMES[match[1]], match[2], match[3])
    if match := _LEVEL.match(rest[:60]):
        return _python(time, LEVEL_NAMES[match[1]], rest[match.start(2) :])
    if match := _NAME_LEVEL.match(rest[:90]):
        text = rest[match.end() :].lstrip(" :-|").rstrip()
        return Head("python", time, LEVEL_NAMES[match[2]], match[1], text)
    return Head("plain", time, None, None, rest.lstrip(" :-|").rstrip())


def _python(time: float | None, level: str, rest: str) -> Head:
    rest = rest.lstrip()
    if match := _NAMED.match(rest[:80]):
        return Head("python", time, level, match[1], rest[match.start(2) :].strip())
    return Head("python", time, level, None, rest.lstrip(" :-|").rstrip())


def _basename(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _time_of_day(match: re.Match[str]) -> float | None:
    """Return seconds since midnight; None if the hour, of 24 or of 12, is not one."""
    hour, half = int(match["clock"][:2]), match["half"]
    if half and not 1 <= hour <= 12:
        return None
    shown = hour % 12 + 12 * (half == "PM") if half else hour
    return seconds(f"1970-01-01 {shown:02d}{match['clock'][2:]}")


def calendar_time(month: str, day: str, clock: str, year: str | int) -> float | None:
    """Return a date with an abbreviated month name as seconds since 1970; None if the date is invalid."""
    return seconds(f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d} {clock}")


def seconds(stamp: str) -> float | None:
    """Return a date and time as seconds since 1970; None if the text is not one."""
    fraction = stamp[_WHOLE + 1 :]
    if stamp[_WHOLE : _WHOLE + 1] not in {".", ","} or not (fraction.isascii() and fraction.isdigit()):
        return _moment(stamp)
    whole = _moment(stamp[:_WHOLE])
    return None if whole is None else (int(whole) * 10**6 + int(f"{fraction:0<6.6}")) / 10**6


@lru_cache(maxsize=1024)
def _moment(stamp: str) -> float | None:
    """Parse a date to seconds since 1970; cached, since many lines share one second."""
    try:
        moment = datetime.fromisoformat(stamp.replace("/", "-"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
