"""Prefixes of log lines: TensorFlow's C++ and Python loggers, absl, gRPC, `logging`, syslog, JSON.

Each style yields time, level and origin, and the text after the prefix. Years that a style omits are taken
from the last line that had one. Times without a zone are read as UTC.
"""

import re
from typing import NamedTuple

from analyzer.ingest.logs.prefixes.time_formats import DAYS, MONTHS, NO_YEAR, seconds, stamp
from analyzer.model.lazy_regex import lazy_regex

LEVEL_NAMES = {
    "DEBUG": "I", "INFO": "I", "NOTICE": "I", "WARNING": "W", "WARN": "W", "ERROR": "E", "EXCEPTION": "E",
    "CRITICAL": "E", "FATAL": "F", "TRACE": "I", "SUCCESS": "I",
}  # fmt: skip
"""Level names of Python's loggers → TensorFlow's letters; F means that native code aborts the process."""
_LEVELS = "|".join(LEVEL_NAMES)
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"

_DATE_ONLY = "2026-11-21"
_ZONE = lazy_regex(r"[+-]\d\d:?\d\d$")

_CLASSIC = lazy_regex(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+): ([IWEFD]) (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_ABSL = lazy_regex(r"([IWEFD])0000 00:00:(\d+\.\d+)\s+\d+ (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_GLOG = lazy_regex(r"([IWEFD])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)\s+\d+ (\S+?):(\d+)\]\s?(.*)", re.DOTALL)
_UNDATED = lazy_regex(r"([IWEF]) (tensorflow/\S+?):(\d+)\] ?(.*)", re.DOTALL)
"""Regex for the prefix of TensorFlow before 1.1, which has no time."""
_LOGGER = lazy_regex(rf"({_LEVELS}):([A-Za-z_][\w.]*):\s?(.*)", re.DOTALL)
_DATED = lazy_regex(rf"[\[(]?({_DATE})[\])]?(.*)", re.DOTALL)
_YEAR_SHORT = lazy_regex(
    r"(\d\d)/(0[1-9]|1[0-2])/([0-3]\d) (\d\d:\d\d:\d\d)(?= (?:INFO|WARN|ERROR|DEBUG|FATAL) [\w$.]+: )(.*)",
    re.DOTALL,
)
"""A date as Spark and Hadoop write it, with two digits of the year in front of the month."""
_LEVEL_FIRST = lazy_regex(
    rf"(?:[\[(]?(?P<level>{_LEVELS})[\])]?[ :|,-]*[\[(]?|\[?(?P<letter>[IWEFCD]) )(?=\d)"
)
"""A level before a time: a name, or a letter as Tornado, Jupyter and Optuna print it."""
_LETTERS = {"I": "I", "W": "W", "E": "E", "F": "F", "D": "I", "C": "E"}
_LEVEL = lazy_regex(rf"\W{{0,4}}\b({_LEVELS})\b\W?(.*)", re.DOTALL)
_BRACKETED_LEVEL = lazy_regex(rf"\W{{0,3}}\[({_LEVELS}) *\]:?", re.IGNORECASE)
"""A level in brackets, in lower case as structlog prints it: `[error    ]`."""
_NAME_LEVEL = lazy_regex(rf"\W{{0,4}}([\w.]+)(?:\W{{1,3}}| {{1,30}})({_LEVELS})\b\W?")
_EPOCH = lazy_regex(
    rf"(?:\[(1\d{{9}}(?:\.\d+|\d{{3}})?)\]|(1\d{{9}}\.\d+)|(1\d{{9}}(?:\d{{3}})?)(?= (?:{_LEVELS})\b))"
    r"[ :](.*)",
    re.DOTALL,
)
"""Seconds or milliseconds since 1970; a bare integer is a time only before a level."""
_MILLISECONDS_FROM = 1e12
_MORE_OF_TIME = lazy_regex(r" ?[AP]M\b| (?:UTC|GMT|[+-]\d\d:?\d\d)\b")
"""Parts of a time that may stand behind a date in ISO 8601: the half of the day, a zone behind a blank."""
_NEAR_CLOCK = lazy_regex(r"[^%=|\n]{0,39}?(?:\d:\d\d|\d{6})")
"""A time of day near the start of a line, and no progress bar before it."""
_OWN_CLOCK = lazy_regex(
    r"[^\S\n]{1,2}[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[\])]?(?=[^\S\n]+[A-Za-z\[(<])"
)
"""The time that a logger writes behind the date that a collector has put before its lines."""
_OPENING = lazy_regex(r"\[(?P<name>[A-Za-z_][\w./:@-]{0,40})\] ?[\[(]?|[\[(<]")
"""What may stand before a time: a bracket, or a name in brackets."""
_BRACKETS = ("[", "(", "<")
_CLOSING = lazy_regex(rf"[^\S\n]*(?!(?:{_LEVELS})\b)(?P<name>@?[A-Za-z_][\w./-]*(?::\d+)?)?[\])>]:?")
"""What ends a prefix in brackets behind its time; the name is that of a logger or a file."""
_RFC5424 = lazy_regex(
    rf"<(?P<priority>\d{{1,3}})>1 (?P<time>{_DATE}) \S+ (?P<program>\S+) \S+ \S+ "
    r"(?:-|(?:\[[^\]]*\])+) ?(?P<text>.*)",
    re.DOTALL,
)
"""Regex for syslog as RFC 5424 has it, where the program's own logger writes it."""
_SEVERITIES = "EEEEWIII"
"""Level of each severity of syslog, from emergency to debug."""
_JSON_TIME = lazy_regex(
    rf'"(?:@?time(?:stamp)?|@?t|ts|asctime|created|date|datetime)"\s*:\s*'
    rf'(?:"({_DATE})"|(1\d{{9}}(?:\d{{3}}|\.\d+)?)\b)',
    re.IGNORECASE,
)
_LOGFMT = lazy_regex(
    r'(?:[\w.]{1,40}=(?:"[^"]*"|\S*) ){0,4}?'
    rf'(?:time(?:stamp)?|ts)=(?:"?({_DATE})"?|(1\d{{9}}(?:\.\d+)?))(?=\s|$)'
)
"""Regex for the time of a line of `key=value`, as Go's loggers and structlog print it."""
_LOGFMT_LEVEL = lazy_regex(rf'\b(?:level|lvl|severity)="?({_LEVELS})\b', re.IGNORECASE)
_JSON_LEVEL = lazy_regex(rf'"(?:level(?:name)?|severity)"\s*:\s*"({_LEVELS})"', re.IGNORECASE)
_NAMED = lazy_regex(r"\W{0,3}([A-Za-z_][\w.]*)(?:\[\d+\]|:[\w<>.]+:\d+|:\d+)?\s?[:\]|-]+ (.*)", re.DOTALL)
"""The name of a logger, with a process id or, as loguru prints it, function and line."""
_FIRST_CHARACTERS = frozenset(
    "0123456789[({<tl" + "".join(name[0] for name in (*LEVEL_NAMES, *MONTHS, *DAYS))
)
"""What a prefix can begin with: a digit, a bracket, `time=`, a level, or the name of a month or a day."""


class Head(NamedTuple):
    """The prefix of a log line and the text behind it; `kind` names the logger: cpp, python or plain."""

    kind: str
    time: float | None
    level: str | None
    origin: str | None
    text: str
    clock: float | None = None
    """Time of day in seconds since midnight, of a line that states no date."""
    zoned: bool = False
    """True if the line states its time zone, or counts from 1970; else the time may be local."""


def head(line: str, year: int = NO_YEAR) -> Head | None:
    """Parse the prefix of a line, None if it has none; `year` completes styles without one."""
    first = line[:1]
    if first not in _FIRST_CHARACTERS:
        return None
    if first in "tl":
        return _logfmt(line)
    if first in "IWEFD" and (found := _letter_first(line, year)):
        return found
    if not first.isdigit():
        return _level_first(line, year) or _time_first(line, year)
    if match := _CLASSIC.match(line):
        return Head("cpp", seconds(match[1]), match[2], _basename(match[3]), match[5])
    return _time_first(line, year)


def _level_first(line: str, year: int) -> Head | None:
    """Parse `INFO:name:`, and a level before a time, as `INFO 2026-11-21 01:40:37` or `[INFO][01:40:37]`."""
    if match := _LOGGER.match(line):
        return Head("python", None, LEVEL_NAMES[match[1]], match[2], match[3])
    if not (match := _LEVEL_FIRST.match(line)) or not (found := stamp(line, match.end(), year)):
        return None
    level = LEVEL_NAMES[match["level"]] if match["level"] else _LETTERS[match["letter"]]
    last = line[match.end() - 1]
    name, rest = _behind(line, found.end, last if last in _BRACKETS else line[:1])
    parsed = _python(found.time, level, rest)
    return parsed._replace(clock=found.clock, origin=name or parsed.origin, zoned=found.zoned)


def _time_first(line: str, year: int) -> Head | None:
    """Parse a time in any format at the start of a line, and JSON."""
    if (match := _DATED.match(line)) and not _MORE_OF_TIME.match(match[2]):
        time = seconds(match[1])
        return _rarer(line, year) if time is None else _dated(time, match[2], zoned=_states_zone(match[1]))
    if line[:1] == "{":
        return _json(line)
    if line[:1] in "1[" and (match := _EPOCH.match(line)):
        return _dated(_of_epoch(match[1] or match[2] or match[3]), f" {match[4]}", zoned=True)
    return _rarer(line, year)


def _rarer(line: str, year: int) -> Head | None:
    """Parse times in other formats, at the start of a line, in brackets, or behind a name in brackets."""
    if line[:1] == "<" and (found := _rfc5424(line)):
        return found
    if not _NEAR_CLOCK.match(line):
        return None
    if match := _YEAR_SHORT.match(line):
        time = seconds(f"20{match[1]}-{match[2]}-{match[3]} {match[4]}")
        return None if time is None else _dated(time, match[5])
    opening = _OPENING.match(line)
    at = opening.end() if opening else 0
    if not (shown := stamp(line, at, year)):
        return None
    name, rest = _behind(line, shown.end, line[at - 1 : at])
    if line[at].isalpha():
        return Head("plain", shown.time, None, name, rest.lstrip(" :"), zoned=shown.zoned)
    parsed = _dated(shown.time, rest, zoned=shown.zoned)
    return parsed._replace(clock=shown.clock, origin=parsed.origin or name or (opening and opening["name"]))


def _behind(line: str, end: int, bracket: str) -> tuple[str | None, str]:
    """Return the name between a time and the bracket that closes it, and the text behind."""
    closing = _CLOSING.match(line, end) if bracket in _BRACKETS else None
    return (closing["name"], line[closing.end() :]) if closing else (None, line[end:])


def _rfc5424(line: str) -> Head | None:
    if not (match := _RFC5424.match(line)) or (time := seconds(match["time"])) is None:
        return None
    level, zoned = _SEVERITIES[int(match["priority"]) % 8], _states_zone(match["time"])
    return Head("python", time, level, match["program"], match["text"].strip(), zoned=zoned)


def _json(line: str) -> Head | None:
    """Return the prefix of a JSON line; None if it has no time among its first 2,000 characters."""
    match = _JSON_TIME.search(line, 0, 2_000)
    return _among_fields(line, match, _JSON_LEVEL) if match else None


def _logfmt(line: str) -> Head | None:
    """Return the prefix of a line of `key=value` pairs; None if no time is among the first of them."""
    match = _LOGFMT.match(line)
    return _among_fields(line, match, _LOGFMT_LEVEL) if match else None


def _among_fields(line: str, found: re.Match[str], levels: re.Pattern[str]) -> Head:
    """Return the prefix of a line that states its time and level among other fields.

    `found` matches the time: a date, or a number that counts from 1970. `levels` finds the level. The text
    of the prefix is the whole line, because the other fields hold the metrics.
    """
    date, number = found.groups()
    level = levels.search(line, 0, 2_000)
    return Head(
        "plain",
        seconds(date) if date else _of_epoch(number),
        LEVEL_NAMES[level[1].upper()] if level else None,
        None,
        line,
        zoned=not date or _states_zone(date),
    )


def _letter_first(line: str, year: int) -> Head | None:
    """Parse the prefixes of absl and glog, whose level comes first, and of TensorFlow before 1.1."""
    if match := _ABSL.match(line):
        return Head("cpp", float(match[2]), match[1], _basename(match[3]), match[5], zoned=True)
    if match := _GLOG.match(line):
        time = seconds(f"{year}-{match[2]}-{match[3]} {match[4]}")
        kind = "python" if match[5].endswith(".py") else "cpp"  # absl's Python logger writes the same prefix
        return Head(kind, time, match[1], _basename(match[5]), match[7])
    match = _UNDATED.match(line)
    return Head("cpp", None, match[1], _basename(match[2]), match[4]) if match else None


def _dated(time: float | None, rest: str, *, zoned: bool = False) -> Head:
    if match := _OWN_CLOCK.match(rest):
        rest = rest[match.end() :]
    if match := _LOGGER.match(rest.lstrip()):
        return Head("python", time, LEVEL_NAMES[match[1]], match[2], match[3], zoned=zoned)
    if match := _LEVEL.match(rest[:60]):
        return _python(time, LEVEL_NAMES[match[1]], rest[match.start(2) :], zoned=zoned)
    if match := _BRACKETED_LEVEL.match(rest[:60]):
        text = rest[match.end() :].strip()
        return Head("python", time, LEVEL_NAMES[match[1].upper()], None, text, zoned=zoned)
    if match := _NAME_LEVEL.match(rest[:90]):
        text = rest[match.end() :].lstrip(" :-|").rstrip()
        return Head("python", time, LEVEL_NAMES[match[2]], match[1], text, zoned=zoned)
    return Head("plain", time, None, None, rest.lstrip(" :-|").rstrip(), zoned=zoned)


def _python(time: float | None, level: str, rest: str, *, zoned: bool = False) -> Head:
    rest = rest.lstrip()
    if match := _NAMED.match(rest[:80]):
        return Head("python", time, level, match[1], rest[match.start(2) :].strip(), zoned=zoned)
    return Head("python", time, level, None, rest.lstrip(" :-|").rstrip(), zoned=zoned)


def _states_zone(time: str) -> bool:
    return time[-1:] == "Z" or _ZONE.search(time, len(_DATE_ONLY)) is not None


def _of_epoch(number: str) -> float:
    """Return seconds since 1970 from a number of seconds or of milliseconds."""
    time = float(number)
    return time / 1000 if time >= _MILLISECONDS_FROM else time


def _basename(path: str) -> str:
    return path.rsplit("/", 1)[-1]
