"""Finds where the log of another process begins in a file that was joined from several, as `cat` does.

A restarted process begins after the one before it has ended. One that began while the other ran is another
worker's, so each process has a stream of its own.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from analyzer.ingest.reader_output import SourceRows

_STARTS = ("process_banner", "server_address")
"""Keys of facts that TensorFlow's runtime logs, at once, as a process starts."""
_LEAST_SECONDS = 0.1
"""Processes that write to one log at the same time may swap lines that are less apart."""
_OF_EPOCH = re.compile(r"[A-Z]0000 00:00:")
"""Regex for the prefix of absl, whose time is UTC; TensorFlow's own prefix has local time."""
_DIGITS = re.compile(r"\d+")
_COMPARED_CHARS = 16

Numbered = Sequence[tuple[int, str]]


class _Row(NamedTuple):
    """A line of the runtime, with its time."""

    line: int
    time: float


def joined_at(output: SourceRows, lines: Numbered) -> list[int]:
    """Return the lines at which logs of other processes begin that ran while an earlier one did, in order.

    `output` has the rows of the whole file, and `lines` its lines. Only the times of TensorFlow's runtime are
    compared, which writes each line at once; what Python prints may be written when the process ends.
    """
    keys = {line: key for key, line in output.cells("facts", "key", "line") if key in _STARTS}
    starts = [*keys]
    rows = _rows_like(output, starts) if len(starts) > 1 else []
    falls = [
        number
        for number, (before, after) in enumerate(pairwise(rows), 1)
        if after.time < before.time - _LEAST_SECONDS
    ]
    logs = [rows[begin:end] for begin, end in pairwise([0, *falls, len(rows)])]
    first = [next((keys[row.line] for row in log if row.line in keys), None) for log in logs]
    if not falls or len({*first}) > 1:
        return []  # a server without the banner before it is of a process that began above
    found = [rows[number].line for number in falls if _overlaps_earlier(rows, number, falls)]
    opening = [text for line, text in lines if line < rows[0].line]
    return [_with_opening(line, opening, lines) for line in found]


def parts(lines: Numbered, begins: Sequence[int]) -> list[Numbered]:
    """Return the lines before the first line number in `begins`, those from it to the next, and so on."""
    found: list[list[tuple[int, str]]] = [[] for _ in range(len(begins) + 1)]
    for line in lines:
        found[bisect_right(begins, line[0])].append(line)
    return [*found]


def _rows_like(output: SourceRows, starts: Sequence[int]) -> list[_Row]:
    """Return the dated lines of the runtime, in order, of those that have the clock of the first start."""
    records = sorted(
        (line, time, text)
        for kind, line, time, text in output.cells("records", "kind", "line", "time", "text")
        if kind == "cpp" and time is not None
    )
    of_start = next((text for line, _, text in records if line == min(starts)), "")
    clock = bool(_OF_EPOCH.match(of_start))
    return [_Row(line, time) for line, time, text in records if bool(_OF_EPOCH.match(text)) is clock]


def _overlaps_earlier(rows: Sequence[_Row], begin: int, falls: Sequence[int]) -> bool:
    """Return True if the process that begins at a row ran at the same time as one above it."""
    end = next((fall for fall in falls if fall > begin), len(rows))
    above, own = rows[:begin], rows[begin:end]
    return min(row.time for row in above) < max(row.time for row in own)


def _with_opening(line: int, opening: Sequence[str], lines: Numbered) -> int:
    """Return the line at which a log begins whose first dated line this is.

    The lines above it belong to it if they begin like those that open the file.
    """
    above = [text for number, text in lines if number < line][-len(opening) :] if opening else []
    return line - len(above) if [*map(_beginning, above)] == [*map(_beginning, opening)] else line


def _beginning(text: str) -> str:
    """Return the first characters of a line without the numbers in them."""
    return _DIGITS.sub("#", text)[:_COMPARED_CHARS]
