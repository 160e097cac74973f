"""Numbers the lines of a log record, also of one whose middle was cut for its length."""

import re
from collections.abc import Mapping
from typing import Any

_CUT = re.compile(r" … \d+ characters cut … ")


def line_numbers(record: Mapping[str, Any]) -> list[int | None]:
    """Return the number in its source of each line of a record's text; None where it is not known.

    If the middle of the text was cut out, the lines above the cut are counted from the first line, those
    below it from the last. If lines were left out elsewhere, only the number of the first line is known.
    """
    first, last, lines = record["line"], record["last_line"], record["text"].split("\n")
    if last - first + 1 == len(lines):
        return list(range(first, last + 1))
    cut = next((k for k, line in enumerate(lines) if _CUT.search(line)), None)
    if cut is None:
        return [first, *[None] * (len(lines) - 1)]
    below = len(lines) - cut - 1
    return [*range(first, first + cut), first if cut == 0 else None, *range(last - below + 1, last + 1)]
