"""Recognizes the lines of Python tracebacks: headers, frames, errors, and what joins or replaces them.

Tracebacks may be plain, decorated by IPython, rich or loguru, or without a header.
"""

import re

from analyzer.model.lazy_regex import lazy_regex

_TITLE = "Traceback (most recent call last)"
_FATAL = "Fatal Python error: "
_IGNORED = ("Exception ignored in: <", "Exception ignored ")
"""What CPython prints above an exception that it drops: behind any prefix, or at the beginning of a line."""
HEADER = lazy_regex(
    rf"(?P<python>(?:\+ )?(?:Exception Group )?{re.escape(_TITLE)}:)|(?P<fatal>{_FATAL})"
    rf"|(?P<ipython>(?P<raised>[A-Za-z_]\w*)(?:Group)? {{2,}}{re.escape(_TITLE)}\s*$)"
    rf"|(?P<box>[╭┌+][─-]+ {re.escape(_TITLE)} [─-]+)"
)
ERROR_NAME = (
    r"(?:(?:[A-Za-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Fault|Timeout|Lost)"
    r"|(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:NotFound|Conflict|Expired|Forbidden)|Exception(?=: (?![\"']\w+\()\S))"
)
ROOT_ERRORS = r"\d+ root error\(s\) found\."
ERROR = lazy_regex(rf"{ERROR_NAME}(?: \(see above for traceback\))?(?::(?:\s|$)|$)|{ROOT_ERRORS}")
_RUNTIME_ERROR = (
    r"(?:Aborted|AlreadyExists|Cancelled|DataLoss|DeadlineExceeded|FailedPrecondition|Internal|NotFound|OutOfRange"
    r"|Unauthenticated|Unavailable|Unknown)Error"
)
_STATUS_ERROR = (
    rf"(?:{_RUNTIME_ERROR}|(?:InvalidArgument|PermissionDenied|ResourceExhausted|Unimplemented)Error)"
)
"""Regex for TensorFlow's exception classes, one per status code; its runtime raises `_RUNTIME_ERROR`."""
_BARE_ERROR = lazy_regex(
    rf"(?=[A-Za-z_][\w.]*\.){ERROR_NAME}: |{ROOT_ERRORS}"
    rf"|{_STATUS_ERROR}(?: \(see above for traceback\))?: "
)
"""Regex for an error without a traceback: a class with its module, or a class of TensorFlow."""
_UNCAUGHT = lazy_regex(
    r"(?i:\b(?:uncaught|unhandled) exception\b)"
    rf"(?:[^\n]{{0,80}}?(?<!::)\b(?=(?P<named>{ERROR_NAME}(?:: |\()))"
    r"|[^\n:]{0,80}: )(?P<error>\S)"
)
"""Regex for the log message of an exception that names its class, or only quotes its message."""
REPORTED = lazy_regex(
    r"(?:Error reported to Coordinator: <(?:class|type) '|^Exception: [\"'](?=\w+\([^)\n]))"
    r"(?P<error>(?:\w+\.)*(?P<type>\w+)(?:'>, |\()(?P<message>[^\n]*?))(?:(?<=[^\n])\)[\"'])?$",
    re.MULTILINE,
)
"""Regex for the exception of one of its threads that TensorFlow's coordinator logs, or Dask's worker.

Of TensorFlow's own classes, Dask shows no message, so that nothing tells whose failure they report.
"""
CHAINED = r"(?:During handling of the above exception|The above exception was the direct cause)"
_BETWEEN = lazy_regex(CHAINED)
FRAME_LINE = lazy_regex(
    r'\s*(?:\| )?(?:> )?File "[^"]+", line \d+(?:, in |\s*$)'
    r"|\s*(?:/|~/|[A-Z]:\\)\S*\.py:\d+ \w+(?: +\*{1,2})?\s*$"
    r"|(?:/|~/|[A-Z]:\\|<ipython-input-)\S* in \w+\(|File \S+\.py:\d+, in \w+\("
)
"""Regex for a frame, as Python prints it, AutoGraph of TensorFlow before 2.5, or IPython."""
_CONTINUATION = " \t|+^>│╭╰├┃┏┗"
"""First characters of lines within a traceback: of code, carets, exception groups, boxes, loguru's frames."""
_ASIDE = lazy_regex(r"[\[(<]{0,2}(?:\.{3}|…|snip\b)|-+> \d")
"""Regex for the start of a line that stands for lines left out, or that IPython points at."""


def is_runtime_error(name: str) -> bool:
    """Return True for the name of an exception class in which TensorFlow's runtime reports errors."""
    return re.fullmatch(_RUNTIME_ERROR, name) is not None


def starts_traceback(text: str) -> bool:
    """Return True if a line begins a traceback: a header, a frame, or a bare error."""
    return (
        header_of(text) is not None
        or (("File " in text or ".py" in text) and FRAME_LINE.match(text) is not None)
        or (("Error" in text or "root error" in text) and _BARE_ERROR.match(text) is not None)
        or ("xception" in text and _UNCAUGHT.search(text) is not None)
        or (("reported to Coord" in text or text[:11] == "Exception: ") and bool(REPORTED.search(text)))
    )


def ignores_exception(text: str) -> bool:
    """Return True for CPython's line above an exception that it ignores, as in `__del__` or a C callback."""
    return _IGNORED[0] in text or text.startswith(_IGNORED[1])


def chains(text: str) -> bool:
    """Return True for the line between two tracebacks of a chain."""
    return _BETWEEN.match(text) is not None


def names_error(text: str) -> bool:
    """Return True if a text is the last line of a traceback alone: `KeyError: 'x'`."""
    return "\n" not in text and ERROR.match(text) is not None


def reported_error(text: str) -> re.Match[str] | None:
    """Return the exception, group `error`, that a logger or TensorFlow's coordinator reports in one line."""
    return _UNCAUGHT.search(text) or REPORTED.search(text)


def header_of(text: str) -> re.Match[str] | None:
    """Return the traceback header in a line, after any prefix."""
    if "Traceback (" not in text and _FATAL not in text:
        return None
    return HEADER.search(text)


def is_within(text: str) -> bool:
    """Return True if a line of a traceback does not name its exception."""
    return not text or text[0] in _CONTINUATION or _ASIDE.match(text) is not None


def prefix_pattern(prefix: str) -> re.Pattern[str] | None:
    """Return a regex for a prefix repeated on every line, with any numbers."""
    is_exception_group = "|" in prefix and not prefix.strip(" |+")
    if not prefix or is_exception_group:
        return None
    return re.compile(re.sub(r"(?:\\?\d)+", r"\\d+", re.escape(prefix)))
