"""Parses Python tracebacks: plain, decorated by IPython, rich or loguru, or without a header.

`OpenTraceback` decides line by line what belongs to a traceback; `parse` parses a complete one.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex

_TITLE = "Traceback (most recent call last)"
_FATAL = "Fatal Python error: "
_IGNORED = ("Exception ignored in: <", "Exception ignored ")
"""What CPython prints above an exception that it drops: behind any prefix, or at the beginning of a line."""
_HEADER = lazy_regex(
    rf"(?P<python>(?:\+ )?(?:Exception Group )?{re.escape(_TITLE)}:)|(?P<fatal>{_FATAL})"
    rf"|(?P<ipython>(?P<raised>[A-Za-z_]\w*)(?:Group)? {{2,}}{re.escape(_TITLE)}\s*$)"
    rf"|(?P<box>[╭┌+][─-]+ {re.escape(_TITLE)} [─-]+)"
)
_ERROR_NAME = (
    r"(?:(?:[A-Za-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Fault|Timeout|Lost)"
    r"|(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:NotFound|Conflict|Expired|Forbidden)|Exception(?=: (?![\"']\w+\()\S))"
)
_ROOT_ERRORS = r"\d+ root error\(s\) found\."
_ERROR = lazy_regex(rf"{_ERROR_NAME}(?: \(see above for traceback\))?(?::(?:\s|$)|$)|{_ROOT_ERRORS}")
_RUNTIME_ERROR = (
    r"(?:Aborted|AlreadyExists|Cancelled|DataLoss|DeadlineExceeded|FailedPrecondition|Internal|NotFound|OutOfRange"
    r"|Unauthenticated|Unavailable|Unknown)Error"
)
_STATUS_ERROR = (
    rf"(?:{_RUNTIME_ERROR}|(?:InvalidArgument|PermissionDenied|ResourceExhausted|Unimplemented)Error)"
)
"""Regex for TensorFlow's exception classes, one per status code; its runtime raises `_RUNTIME_ERROR`."""
_NAMED = lazy_regex(rf"{_ERROR_NAME}\b|{_ROOT_ERRORS}|(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?:: |$)|\w+\(")
"""Regex for an error below a blank line: below a traceback that was cut off, a paste goes on with prose."""
_BARE_ERROR = lazy_regex(
    rf"(?=[A-Za-z_][\w.]*\.){_ERROR_NAME}: |{_ROOT_ERRORS}"
    rf"|{_STATUS_ERROR}(?: \(see above for traceback\))?: "
)
"""Regex for an error without a traceback: a class with its module, or a class of TensorFlow."""
_UNCAUGHT = lazy_regex(
    r"(?i:\b(?:uncaught|unhandled) exception\b)"
    rf"(?:[^\n]{{0,80}}?(?<!::)\b(?=(?P<named>{_ERROR_NAME}(?:: |\()))"
    r"|[^\n:]{0,80}: )(?P<error>\S)"
)
"""Regex for the log message of an exception that names its class, or only quotes its message."""
_LOGGED = lazy_regex(r"(?P<message>[^\n]+)")
_REPORTED = lazy_regex(
    r"(?:Error reported to Coordinator: <(?:class|type) '|^Exception: [\"'](?=\w+\([^)\n]))"
    r"(?P<error>(?:\w+\.)*(?P<type>\w+)(?:'>, |\()(?P<message>[^\n]*?))(?:(?<=[^\n])\)[\"'])?$",
    re.MULTILINE,
)
"""Regex for the exception of one of its threads that TensorFlow's coordinator logs, or Dask's worker.

Of TensorFlow's own classes, Dask shows no message, so that nothing tells whose failure they report.
"""
_WRAPPED = lazy_regex(
    r"(?s)(?:Input|Other function) has an .*?al exception is (?P<type>\w+)\(.*?\), .*? is (?P<message>.*)"
)
"""Regex for an error of ParameterServerStrategy's coordinator that stands for one that it quotes."""
_CHAINED = r"(?:During handling of the above exception|The above exception was the direct cause)"
_CHAIN = lazy_regex(rf"\n+{_CHAINED}[^\n]*\s*$")
_BETWEEN = lazy_regex(_CHAINED)
_FRAME_LINE = lazy_regex(
    r'\s*(?:\| )?(?:> )?File "[^"]+", line \d+(?:, in |\s*$)'
    r"|\s*(?:/|~/|[A-Z]:\\)\S*\.py:\d+ \w+(?: +\*{1,2})?\s*$"
    r"|(?:/|~/|[A-Z]:\\|<ipython-input-)\S* in \w+\(|File \S+\.py:\d+, in \w+\("
)
"""Regex for a frame, as Python prints it, AutoGraph of TensorFlow before 2.5, or IPython."""
_CONTINUATION = " \t|+^>│╭╰├┃┏┗"
"""First characters of lines within a traceback: of code, carets, exception groups, boxes, loguru's frames."""
_ASIDE = lazy_regex(r"[\[(<]{0,2}(?:\.{3}|…|snip\b)|-+> \d")
"""Regex for the start of a line that stands for lines left out, or that IPython points at."""
_NAME = lazy_regex(
    r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*)(?: \(see above for traceback\))?"
    r"(?::\s?(?P<message>.*)|$|(?=\n))",
    re.DOTALL,
)
_STATUS = lazy_regex(rf"(?P<message>{_ROOT_ERRORS}\s+\(\d\) (?P<code>[A-Za-z_]+(?: [a-z]+)*):.*)", re.DOTALL)
"""Regex for TensorFlow's list of root errors where no exception class precedes it."""
_CALL = lazy_regex(r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*)\((?P<message>[^\n]*)\)")
_FRAME = lazy_regex(
    r'^\s*(?:\| )?(?:> )?File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+?)(?: +\*{1,2})?)?$'
    r"|^\s*(?P<path9>(?:/|~/|[A-Z]:\\)\S*\.py):(?P<line9>\d+) (?P<name9>\w+)(?: +\*{1,2})?\s*$"
    r"|^File (?P<path8>[^\s\"]+?):(?P<line8>\d+), in (?P<name8>[^(\n]+)\("
    r"|^Cell In\[\d+\], line (?P<cell>\d+)"
    r"|^(?P<path7>(?:/|~|<ipython-input|\w:\\)\S*) in (?P<name7>[\w.<>]+)(?:\([^\n]*)?\n"
    r"(?:(?!-+> )[^\n]+\n)*-+> (?P<line7>\d+)"
    r"|^[│|] (?P<path_boxed>[^\s│|]+\.py):(?P<line_boxed>\d+) in (?P<name_boxed>\S+)",
    re.MULTILINE,
)
_LIBRARY = lazy_regex(
    r"site-packages|dist-packages|/lib/python\d|/python-?\d[\d.]*/lib/|^<(?!ipython|command-)|/runpy\.py$"
    r"|lib-dynload|/(?:pyspark|py4j)[^/]*/"
)

_SHOWN = lazy_regex(r"(?P<runs>-+> ?|[│|] ❱ +)\d+\b| +\d+(?: |$)|[│|] +\d+ [│|]")
"""Regex for a line of source code that IPython or rich shows with its number; `runs`: the one that raised."""


class Raised(NamedTuple):
    """A parsed traceback: class, message and position of its last exception, and the user's frame."""

    type: str
    message: str
    start: int
    frame: str | None


def is_runtime_error(name: str) -> bool:
    """Return True for the name of an exception class in which TensorFlow's runtime reports errors."""
    return re.fullmatch(_RUNTIME_ERROR, name) is not None


def executed(text: str) -> str:
    """Return a traceback in which code that IPython or rich shows around the executed line is blanked."""
    if "-> " not in text and "❱" not in text:
        return text
    return "\n".join(_executed(text.split("\n")))


def _executed(shown: list[str]) -> Iterator[str]:
    unclosed = 0
    for line in shown:
        source = _SHOWN.match(line)
        if source is None or source["runs"]:
            unclosed = 0
        if source and (source["runs"] or unclosed > 0):
            unclosed += line.count("(") - line.count(")")
        elif source:
            line = " " * len(line)
        yield line


def starts_traceback(text: str) -> bool:
    """Return True if a line begins a traceback: a header, a frame, or a bare error."""
    return (
        header_of(text) is not None
        or (("File " in text or ".py" in text) and _FRAME_LINE.match(text) is not None)
        or (("Error" in text or "root error" in text) and _BARE_ERROR.match(text) is not None)
        or ("xception" in text and _UNCAUGHT.search(text) is not None)
        or (("reported to Coord" in text or text[:11] == "Exception: ") and bool(_REPORTED.search(text)))
    )


def ignores_exception(text: str) -> bool:
    """Return True for CPython's line above an exception that it ignores, as in `__del__` or a C callback."""
    return _IGNORED[0] in text or text.startswith(_IGNORED[1])


def chains(text: str) -> bool:
    """Return True for the line between two tracebacks of a chain."""
    return _BETWEEN.match(text) is not None


def names_error(text: str) -> bool:
    """Return True if a text is the last line of a traceback alone: `KeyError: 'x'`."""
    return "\n" not in text and _ERROR.match(text) is not None


def header_of(text: str) -> re.Match[str] | None:
    """Return the traceback header in a line, after any prefix."""
    if "Traceback (" not in text and _FATAL not in text:
        return None
    return _HEADER.search(text)


class OpenTraceback:
    """Parser of a traceback, fed line by line: finds its extent and the line that names the exception."""

    def __init__(self, first: str) -> None:
        """Start with the first line of the traceback."""
        self.ending: str | None = None
        """The line that names the exception; None until it has been read."""
        self._raised: str | None = None
        self._prefix: re.Pattern[str] | None = None
        header = header_of(first)
        self.has_header = header is not None
        if header:
            self._open(first, header)
        elif not _FRAME_LINE.match(first):
            logged = _UNCAUGHT.search(first) or _REPORTED.search(first)
            self.ending = first[logged.start("error") :] if logged else first

    def _open(self, line: str, header: re.Match[str]) -> None:
        self.has_header, self.ending, self._raised = True, None, header["raised"]
        if self._prefix is None:
            self._prefix = _prefix_pattern(line[: header.start()])

    def continues(self, line: str) -> bool | None:
        """Return whether a line belongs to the traceback; None if only the log reader can decide."""
        text = self._bare(line)
        if header_of(line):
            return True
        if not self.has_header:
            return self._continues_headless(text)
        return True if text is not line or _is_within(text) else None

    def _continues_headless(self, text: str) -> bool | None:
        if self.ending is not None:
            return True if not text or text[0] in " \t" else None
        is_within = _is_within(text) or text.startswith("Node: ")
        return is_within or (_FRAME_LINE.match(text) or _ERROR.match(text)) is not None

    def add(self, line: str) -> None:
        """Append the next line of the traceback."""
        if header := header_of(line):
            self._open(line, header)
            return
        text = self._bare(line) if self.has_header else line.lstrip(" ")
        if self.ending is not None or _is_within(text):
            return
        if not self.has_header and not _ERROR.match(text):
            return
        if self._raised is None or re.match(rf"(?:\w+\.)*{self._raised}\b", text):
            self.ending = text

    @property
    def has_error(self) -> bool:
        """Return True if a header or an error was read; a stack that was only printed has neither."""
        return self.has_header or self.ending is not None

    def reopen(self) -> None:
        """Prepare for the next exception of a chain, which has its own header."""
        self.has_header, self.ending = True, None

    def _bare(self, line: str) -> str:
        """Return a line without the prefix that the header had; the line itself if it lacks that prefix."""
        match = self._prefix.match(line) if self._prefix else None
        return line[match.end() :] if match else line


def _is_within(text: str) -> bool:
    """Return True if a line of a traceback does not name its exception."""
    return not text or text[0] in _CONTINUATION or _ASIDE.match(text) is not None


def _prefix_pattern(prefix: str) -> re.Pattern[str] | None:
    """Return a regex for a prefix repeated on every line, with any numbers."""
    is_exception_group = "|" in prefix and not prefix.strip(" |+")
    if not prefix or is_exception_group:
        return None
    return re.compile(re.sub(r"(?:\\?\d)+", r"\\d+", re.escape(prefix)))


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
        return Raised(_class_of(status["code"]), status["message"].strip(), start, _users_frame(frames))
    reported = _REPORTED.search(text, text.rfind("\n", 0, start) + 1)
    if reported and reported.start("error") == start:
        return Raised(reported["type"], reported["message"].strip(), start, None)
    match = _NAME.match(text, start) or _CALL.match(text, start)
    match = match or (None if header else _LOGGED.match(text, start))
    if match is None:
        return None
    message = _without_prefix((match["message"] or "").strip(), prefix)
    if wrapped := _WRAPPED.match(message):
        match, message = wrapped, wrapped["message"]
    return Raised(match.groupdict().get("type") or "Exception", message, start, _users_frame(frames))


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
    return _HEADER.search(text, start, start + len(line)) if header_of(line) else None


def _prefix_before(text: str, header: re.Match[str]) -> re.Pattern[str] | None:
    return _prefix_pattern(text[text.rfind("\n", 0, header.start()) + 1 : header.start()])


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
        if _is_within(bare):
            follows_blank = not bare
            continue
        if header and raised is None and follows_blank and not _NAMED.match(bare):
            return None
        at = start + len(line) - len(bare)
        if header is None and not _ERROR.match(bare):
            if logged := _UNCAUGHT.search(bare) or _REPORTED.search(bare):
                return at + logged.start("error")
        elif raised is None or re.match(rf"(?:\w+\.)*{raised}\b", bare):
            return at
    return None


def _users_frame(frames: str) -> str | None:
    """Return the deepest frame outside libraries, as `path:line in name`."""
    every = map(_frame, _FRAME.finditer(frames))
    own = [frame for frame in every if not _LIBRARY.search(frame[0])]
    if not own:
        return None
    path, line, name = own[-1]
    return f"{path}:{line}" + (f" in {name}" if name else "")


def _frame(found: re.Match[str]) -> tuple[str, str, str | None]:
    if found["cell"]:
        return "<ipython cell>", found["cell"], None
    for suffix in ("", "7", "8", "9", "_boxed"):
        if found["path" + suffix]:
            return found["path" + suffix], found["line" + suffix], found["name" + suffix]
    raise AssertionError(found)
