"""Learns the prefix of a collector that no style knows, from the lines that TensorFlow and Python begin.

A program cannot put anything before the lines of TensorFlow's C++ logger, of absl or before a traceback. What
stands there in most of them, in one form, was added by whoever collected the output.
"""

import json
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from analyzer.ingest.logs.collectors.learned.forms import (
    QUOTED,
    TIMED_BEGINNING,
    ends,
    form_of_most,
    line_regex,
)
from analyzer.ingest.logs.collectors.learned.words import (
    MAX_DIGITS,
    uncounted,
    without_line_number,
    writer_groups,
)
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style

_MARKED, _NEARLY_ALL = 0.9, 0.98
"""Minimum share of all lines that have the prefix, and the share from which on no shorter form is tried."""
_MIN_MARKED_AMONG_NOTES = 0.25
"""Share of lines with the prefix that suffices if the prefix has brackets or other marks."""
_NUMBERS = re.compile(r"\d+")
_OF_SEVERAL = re.compile(r"^(\d+)/(\d+)$")
LEAST_PID = 300
"""Numbers from here on are those of processes, not the ranks of a launcher that no style knows."""
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?(?![\d:])"
    r"|[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|(?<![\d:])\d\d:\d\d:\d\d(?:[.,]\d+)?(?![\d:])"
)
_ESCAPE = re.compile(r"\\(x[\da-fA-F]{2}|.)", re.DOTALL)


def learned_style(lines: Sequence[str]) -> Style | None:
    """Return a parser of the prefix that TensorFlow's lines in a sample have; None if there is no single one.

    If the prefix ends with a quotation mark, the text ends before the next one, as in `msg="text" pod=w-1`.
    """
    own = form_of_most(lines)
    if (form := own or form_of_most(lines, TIMED_BEGINNING)) is None:
        return None
    best: tuple[float, Style] | None = None
    for end in ends(form):
        expression = line_regex(form, end)
        marked = [match for line in lines if (match := expression.match(line))]
        key = writer_groups(marked)
        if own is None and not _count_tasks(key, marked):
            return None
        if not key and end < len(form.parts):
            continue
        share = len(marked) / len(lines)
        if best is None or share > best[0]:
            counted = {group for group in key if _is_counted([match[group] for match in marked])}
            best = share, _style(expression, key, counted)
        if share >= _NEARLY_ALL:
            break
    is_marked_by_signs = not {*form.parts} <= {"W", " "}
    least = _MIN_MARKED_AMONG_NOTES if is_marked_by_signs else _MARKED
    return best[1] if best and best[0] >= least else None


def _count_tasks(key: Sequence[int], marked: Sequence[re.Match[str]]) -> bool:
    """Return True if several names differ only in a number, as of tasks, and the lowest is not 1."""
    names = {":".join(match[group] for group in key) for match in marked}
    first = min((int(each[-1]) for name in names if (each := _NUMBERS.findall(name))), default=1)
    alike = len({_NUMBERS.sub("0", name) for name in names}) == 1 < len(names)
    return alike and first != 1 and not re.match(r"(?i)\w*(?:thread|process|executor|pool)", min(names))


def _is_counted(values: Sequence[str]) -> bool:
    return uncounted(values) is not values


def _style(expression: re.Pattern[str], key: Sequence[int], counted: AbstractSet[int]) -> Style:
    def read(line: str) -> CollectedLine | None:
        if not (match := expression.match(line)):
            return None
        stamp = _STAMP.search(match["prefix"])
        time = stamp[0].replace(",", ".") if stamp else ""
        names = (without_line_number(match[group]) if group in counted else match[group] for group in key)
        writer = _OF_SEVERAL.sub(r"\1-of-\2", ":".join(names))
        writer = f"pid={writer}" if writer.isdecimal() and int(writer[:MAX_DIGITS]) >= LEAST_PID else writer
        return CollectedLine(writer or None, _unquoted(match["text"] or ""), timestamp=time)

    return read


def _unquoted(text: str) -> str:
    """Return what a text in quotation marks stands for, in JSON or in Python; any other text as it is."""
    if not re.fullmatch(QUOTED, text, re.DOTALL):
        return text
    value = _of_json(text)
    return (_of_bytes(text) if value is None else value).rstrip("\n")


def _of_json(text: str) -> str | None:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return None


def _of_bytes(text: str) -> str:
    """Return what Python's form of bytes or of a text stands for."""
    plain = _ESCAPE.sub(_escaped, text[1:-1])
    try:
        return plain.encode("latin-1").decode()
    except UnicodeError:
        return plain


def _escaped(match: re.Match[str]) -> str:
    what = match[1]
    return chr(int(what[1:], 16)) if what[1:] else {"n": "\n", "t": "\t", "r": "\r"}.get(what, what)
