r"""Tracebacks that a service or a paste collapsed into one line → their lines.

Cloud ML Engine joins them with spaces; values of JSON and YAML hold line breaks as `\n`.
"""

import re

from analyzer.model.lazy_regex import lazy_regex

_TITLE = "Traceback (most recent call last)"
_FRAME = r'File "[^"]+", line \d+, in (?:<\w+>|\w+)'
_BEFORE_FRAME = lazy_regex(rf"\s+(?={_FRAME}(?:\s|$))")
_BEHIND_FRAME = lazy_regex(rf"({_FRAME})\s+(?=\S)")
_BEFORE_ERROR = lazy_regex(
    r"\s+(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration)(?::\s|\s*$))"
)
_BEFORE_TITLE = lazy_regex(rf"\s+(?={re.escape(_TITLE)})")


def expand(line: str) -> list[str]:
    """Return the lines of a collapsed traceback, or the line itself if it holds none."""
    if _TITLE in line and "\\n" in line:
        return _expand_escaped(line)
    if 'File "' in line and (_TITLE in line or line.count('File "') > 1) and _BEFORE_FRAME.search(line):
        return _expand_joined(line)
    return [line]


def _expand_escaped(line: str) -> list[str]:
    start = max(line.rfind("\\n", 0, line.index(_TITLE)), 0)
    text = line[start:].replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t").rstrip('"}, ')
    return [line[:start], *text.removeprefix("\n").split("\n")] if start else text.split("\n")


def _expand_joined(line: str) -> list[str]:
    title = _BEFORE_TITLE.search(line)
    before = [line[: title.start()]] if title else []
    first, *frames = _BEFORE_FRAME.split(line[title.end() :] if title else line)
    lines = [*before, *([first] if first else [])]
    for position, frame in enumerate(frames):
        error = _BEFORE_ERROR.search(frame) if position == len(frames) - 1 else None
        code = _BEHIND_FRAME.sub(r"\1\n    ", frame[: error.start()] if error else frame, count=1)
        lines += ["  " + code.split("\n")[0], *code.split("\n")[1:]]
        lines += [frame[error.end() :]] if error else []
    return lines
