"""How a log line begins: TensorFlow's C++ and Python loggers, absl, gRPC, and Python's `logging`.

Each style yields when, how grave and from where, and the text behind the prefix. Years that a style leaves
out are taken from the last line that had one. Times without a zone are read as UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

_WORDS = {
    "DEBUG": "I", "INFO": "I", "NOTICE": "I", "WARNING": "W", "WARN": "W", "ERROR": "E", "EXCEPTION": "E",
    "CRITICAL": "F", "FATAL": "F", "TRACE": "I",
}  # fmt: skip
_LEVELS = "|".join(_WORDS)
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"

_CLASSIC = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+): ([IWEFD]) (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_ABSL = re.compile(r"([IWEFD])0000 00:00:(\d+\.\d+)\s+\d+ (\S+?):(\d+)\] ?(.*)", re.DOTALL)
_GLOG = re.compile(r"([IWEFD])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)\s+\d+ (\S+?):(\d+)\]\s?(.*)", re.DOTALL)
_LOGGER = re.compile(rf"({_LEVELS}):([A-Za-z_][\w.]*):\s?(.*)", re.DOTALL)
_DATED = re.compile(rf"[\[(]?({_DATE})[\])]?(.*)", re.DOTALL)
_LEVEL_FIRST = re.compile(rf"[\[(]?({_LEVELS})[\])]?[ :-]+[\[(]?({_DATE})[\])]?(.*)", re.DOTALL)
_LEVEL = re.compile(rf"\W{{0,4}}\b({_LEVELS})\b\W?(.*)", re.DOTALL)
_NAMED = re.compile(r"\W{0,3}([A-Za-z_][\w.]*)(?:\[\d+\])?\s?[:\]|-]+ (.*)", re.DOTALL)


class Head(NamedTuple):
    """The prefix of a line, taken apart. `kind` is cpp, python or plain."""

    kind: str
    time: float | None
    level: str | None
    origin: str | None
    text: str


def head(line: str, year: int) -> Head | None:
    """The prefix of a line, or None when it has none; `year` completes styles without one."""
    first = line[:1]
    if first in "IWEFD" and (found := _absl(line) or _glog(line, year)):
        return found
    if first.isdigit() and (match := _CLASSIC.match(line)):
        return Head("cpp", seconds(match[1]), match[2], _basename(match[3]), match[5])
    if match := _LOGGER.match(line):
        return Head("python", None, _WORDS[match[1]], match[2], match[3])
    if match := _LEVEL_FIRST.match(line):
        return _python(seconds(match[2]), _WORDS[match[1]], match[3])
    if (match := _DATED.match(line)) and (time := seconds(match[1])) is not None:
        return _dated(time, match[2])
    return None


def _absl(line: str) -> Head | None:
    if match := _ABSL.match(line):
        return Head("cpp", float(match[2]), match[1], _basename(match[3]), match[5])
    return None


def _glog(line: str, year: int) -> Head | None:
    if match := _GLOG.match(line):
        time = seconds(f"{year}-{match[2]}-{match[3]} {match[4]}")
        return Head("cpp", time, match[1], _basename(match[5]), match[7])
    return None


def _dated(time: float, rest: str) -> Head:
    if match := _LEVEL.match(rest[:60]):
        return _python(time, _WORDS[match[1]], rest[match.start(2) :])
    if match := re.match(rf"\W{{0,4}}([\w.]+)\W{{1,3}}({_LEVELS})\b\W?", rest[:90]):
        return Head("python", time, _WORDS[match[2]], match[1], rest[match.end() :].strip(" :-|"))
    return Head("plain", time, None, None, rest.strip(" :-|"))


def _python(time: float | None, level: str, rest: str) -> Head:
    if match := _NAMED.match(rest[:80]):
        return Head("python", time, level, match[1], rest[match.start(2) :].strip())
    return Head("python", time, level, None, rest.strip(" :-|"))


def _basename(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def seconds(stamp: str) -> float | None:
    """A date with time as seconds since the epoch; None when it is no date."""
    text = stamp.replace("/", "-").replace(",", ".").replace(" ", "T")
    whole, dot, fraction = text.partition(".")
    if dot:
        digits = re.match(r"\d+", fraction)
        end = digits.end() if digits else 0
        text = f"{whole}.{fraction[: min(end, 6)]}{fraction[end:]}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
