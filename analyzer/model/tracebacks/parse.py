"""Parses a complete traceback: the exception that it ends with, its message and the user's frame."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.frames import users_frame
from analyzer.model.tracebacks.lines import (
    CHAINED,
    ERROR,
    ERROR_NAME,
    HEADER,
    REPORTED,
    ROOT_ERRORS,
    header_of,
    is_within,
    prefix_pattern,
    reported_error,
)

_NAMED = lazy_regex(rf"{ERROR_NAME}\b|{ROOT_ERRORS}|(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?:: |$)|\w+\(")
"""Regex for an error below a blank line: below a traceback that was cut off, a paste goes on with prose."""
_LOGGED = lazy_regex(r"(?P<message>[^\n]+)")
_WRAPPED = lazy_regex(
    r"(?s)(?:Input|Other function) has an .*?al exception is (?P<type>\w+)\(.*?\), .*? is (?P<message>.*)"
)
"""Regex for an error of ParameterServerStrategy's coordinator that stands for one that it quotes."""
_CHAIN = lazy_regex(rf"\n+{CHAINED}[^\n]*\s*$")
_NAME = lazy_regex(
    r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*)(?: \(see above for traceback\))?"
    r"(?::\s?(?P<message>.*)|$|(?=\n))",
    re.DOTALL,
)
_STATUS = lazy_regex(rf"(?P<message>{ROOT_ERRORS}\s+\(\d\) (?P<code>[A-Za-z_]+(?: [a-z]+)*):.*)", re.DOTALL)
"""Regex for TensorFlow's list of root errors where no exception class precedes it."""
_CALL = lazy_regex(r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*)\((?P<message>[^\n]*)\)")


class Raised(NamedTuple):
    """A parsed traceback: class, message and position of its last exception, and the user's frame."""

    type: str
    message: str
    start: int
    frame: str | None


def parse(text: str) -> Raised | None:
    """Return the last complete exception of a traceback; None if there is none."""
    headers = [found for start, _ in _lines(text) if (found := _header_at(text, start))]
    ends = [*(text.rfind("\n", 0, header.start()) + 1 for header in headers), len(text)]
    for header, end in zip([*reversed(headers), None], reversed(ends), strict=True):
        if raised := _exception_after(_CHAIN.sub("", text[:end]), header):
            return raised
    return None


def _exception_after(text: str, header: re.Match[str] | None) -> Raised | None:
    """Return the exception below a traceback's header, or the first in a text without one; None if none."""
    if header and header["fatal"]:
        fatal = header.start("fatal")
        return Raised("FatalPythonError", text[fatal:].partition("\n")[0].partition(": ")[2], fatal, None)
    prefix = _prefix_before(text, header) if header else None
    start = _error_start(text, header, prefix)
    if start is None:
        return None
    frames = _without_prefix(text[header.start() if header else 0 : start], prefix)
    if status := _STATUS.match(text, start):
        return Raised(_class_of(status["code"]), status["message"].strip(), start, users_frame(frames))
    reported = REPORTED.search(text, text.rfind("\n", 0, start) + 1)
    if reported and reported.start("error") == start:
        return Raised(reported["type"], reported["message"].strip(), start, None)
    match = _NAME.match(text, start) or _CALL.match(text, start)
    match = match or (None if header else _LOGGED.match(text, start))
    if match is None:
        return None
    message = _without_prefix((match["message"] or "").strip(), prefix)
    if wrapped := _WRAPPED.match(message):
        match, message = wrapped, wrapped["message"]
    return Raised(match.groupdict().get("type") or "Exception", message, start, users_frame(frames))


def _without_prefix(text: str, prefix: re.Pattern[str] | None) -> str:
    return "\n".join(prefix.sub("", line, count=1) for line in text.split("\n")) if prefix else text


def _class_of(code: str) -> str:
    """Return TensorFlow's exception class for a status code: `DATA_LOSS` → `DataLossError`."""
    return "".join(word.capitalize() for word in re.split(r"[_ ]", code)) + "Error"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each line."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _header_at(text: str, start: int) -> re.Match[str] | None:
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)]
    return HEADER.search(text, start, start + len(line)) if header_of(line) else None


def _prefix_before(text: str, header: re.Match[str]) -> re.Pattern[str] | None:
    return prefix_pattern(text[text.rfind("\n", 0, header.start()) + 1 : header.start()])


def _error_start(text: str, header: re.Match[str] | None, prefix: re.Pattern[str] | None) -> int | None:
    """Return the offset at which the exception's name begins."""
    raised = header and header["raised"]
    follows_blank = False
    for start, line in _lines(text):
        if header and start <= header.start():
            continue
        match = prefix.match(line) if prefix else None
        bare = line[match.end() :] if match else line
        if header is None:
            bare = bare.lstrip(" ")
        if is_within(bare):
            follows_blank = not bare
            continue
        if header and raised is None and follows_blank and not _NAMED.match(bare):
            return None
        at = start + len(line) - len(bare)
        if header is None and not ERROR.match(bare):
            if logged := reported_error(bare):
                return at + logged.start("error")
        elif raised is None or re.match(rf"(?:\w+\.)*{raised}\b", bare):
            return at
    return None
