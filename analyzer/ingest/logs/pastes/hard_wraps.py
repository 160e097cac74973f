"""Joins lines that a terminal, a mail or the author of a post broke before somebody copied them."""

from collections.abc import Sequence

from analyzer.ingest.logs.pastes.line_forms import all_collected, is_of_logger
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.ingest.logs.text import ESCAPES
from analyzer.model.lazy_regex import lazy_regex

_WIDTHS = range(60, 400)
"""Widths of terminals in characters; a line as long as the longest one is taken for a broken one."""
_LEAST_BROKEN = 3
"""Minimum number of different messages that are broken; fewer lines may be of equal length by chance."""
_SHARE_BROKEN = 0.8
"""Minimum share of the longest lines that go on in the next one; the others just fit."""
_WIDTHS_OF_MAILS = range(56, 81)
"""Widths in characters of what mail programs quote; they fill the lines with words."""
_LEAST_REFILLED = 2
"""Minimum number of places where quoted lines are broken; a single one may be full by chance."""
_DIGITS = lazy_regex(r"\d+")
_GAP = lazy_regex(r"\S {2,}(?=\S)")
_BEGINNINGS = ("File ", "```", "Epoch ")
"""Beginnings of lines that are none of a logger's."""
_NAME_OF_ERROR = lazy_regex(r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception):\s*$")
"""Regex for a line that an error's message should follow."""
_OF_TRACEBACK = lazy_regex(r'\s*File "[^"\n]+$|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S')
"""Regex for a line of a traceback that may be broken: within the path of a file, or an error's message."""
_BROKEN_FRAME = lazy_regex(r'\s*File "[^"\n]+",(?: line(?: \d+,(?: in)?)?)?\s*$')
"""Regex for the first line of a frame that lacks its end: the line number, or the function's name."""
_REST_OF_FRAME = lazy_regex(r"\s*(?:line \d+, in \S+|\d+, in \S+|in \S+|[\w<>.]+)\s*$")
_END_OF_CELL = ("|", "+", "-", "=", "│", "*", "#")


def joined(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, with broken ones joined in the place of the first part and the other parts empty."""
    shown = [ESCAPES.sub("", line) if "\x1b" in line else line for line in lines]
    width = max(map(len, shown), default=0)
    if width not in _WIDTHS or all_collected(shown):
        return lines
    longest = [at for at in range(len(shown) - 1) if len(shown[at]) == width and _may_be_broken(shown[at])]
    broken = {at for at in longest if _goes_on(shown[at + 1])}
    messages = {_DIGITS.sub("0", shown[at]) for at in broken}
    if len(messages) < _LEAST_BROKEN or len(broken) < _SHARE_BROKEN * len(longest):
        return lines
    found, first = list(lines), 0
    for at, line in enumerate(lines):
        if at and at - 1 in broken:
            found[first] += line
            found[at] = ""
        else:
            first = at
    return found


def refilled(lines: Sequence[str], quoted: Sequence[bool]) -> Sequence[str]:
    """Return the lines, with those joined that a mail broke between words in order to quote them.

    They are those of loggers and the files and messages in tracebacks.
    A line is broken if the first word of the next one would not have fit; the parts behind it become empty.
    """
    width = max((len(line) for line, is_quoted in zip(lines, quoted, strict=True) if is_quoted), default=0)
    if width not in _WIDTHS_OF_MAILS:
        return lines
    found, first, count = list(lines), None, 0
    for at, line in enumerate(lines):
        starts = quoted[at] and (is_of_logger(line.strip()) or _OF_TRACEBACK.match(line) is not None)
        if first is not None and quoted[at] and not starts and _is_full(lines[at - 1], line, width):
            found[first] += ("" if found[first].endswith("/") else " ") + line.strip()
            found[at] = ""
            count += 1
        else:
            first = at if starts else None
    return found if count >= _LEAST_REFILLED else lines


def with_frames(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, with the first line of each frame of a traceback joined if it was broken."""
    found = list(lines)
    for at in range(1, len(found)):
        if _BROKEN_FRAME.match(found[at - 1]) and _REST_OF_FRAME.match(found[at]):
            found[at - 1 : at + 1] = [f"{found[at - 1].rstrip()} {found[at].strip()}", ""]
    return found


def with_messages(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, with an error's message that somebody broke and indented joined to its name."""
    found, first = list(lines), None
    for at, line in enumerate(lines):
        if first is not None and line.strip() and _depth(line) > _depth(lines[first]):
            found[first] = f"{found[first].rstrip()} {line.strip()}"
            found[at] = ""
        else:
            first = at if line.rstrip()[-1:] == ":" and _NAME_OF_ERROR.match(line) else None
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _is_full(line: str, following: str, width: int) -> bool:
    """Return True if the first word of the next line did not fit into this one."""
    word = following.split(maxsplit=1)[:1]
    return bool(word) and not following[:1].isspace() and len(line) + 1 + len(word[0]) > width


def _may_be_broken(line: str) -> bool:
    """Return False for a row of a table and for progress, which are often of equal length."""
    is_row = line.endswith(_END_OF_CELL) or len(_GAP.findall(line.strip())) > 1
    return not is_row and not is_progress(line.strip())


def _goes_on(line: str) -> bool:
    """Return True if a line does not begin like one of its own."""
    text = line.strip()
    if not text or text.startswith(_BEGINNINGS):
        return False
    return not (is_of_logger(text) or is_progress(text))
