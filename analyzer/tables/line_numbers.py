"""Numbers the lines of a log record, also of one whose middle was cut for its length."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_CUT = re.compile(r" … \d+ characters cut … ")


def line_numbers(record: Mapping[str, Any]) -> list[int | None]:
    """Return the number in its source of each line of a record's text; None where it is not known.

    If lines of other writers stand between them, the record lists the numbers. If the middle of the text was
    cut out, the lines above the cut are counted from the first line, those below it from the last. If lines
    were left out elsewhere, only the number of the first line is known.
    """
    first, last, lines = record["line"], record["last_line"], record["text"].split("\n")
    cut = next((k for k, line in enumerate(lines) if _CUT.search(line)), None)
    if record["lines"] is not None:
        listed = list(_numbers_in(record["lines"]))
        return [None if at == cut and at else number for at, number in enumerate(listed)]
    if last - first + 1 == len(lines):
        return list(range(first, last + 1))
    if cut is None:
        return [first, *[None] * (len(lines) - 1)]
    below = len(lines) - cut - 1
    return [*range(first, first + cut), first if cut == 0 else None, *range(last - below + 1, last + 1)]


def _numbers_in(listed: str) -> Iterator[int]:
    """Yield the numbers of a list of numbers and ranges, as 96,100,104-106."""
    for part in listed.split(","):
        begin, _, end = part.partition("-")
        yield from range(int(begin), int(end or begin) + 1)
