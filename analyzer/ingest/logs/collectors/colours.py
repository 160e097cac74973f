"""Lines whose writer is told by their colour alone, as SageMaker's SDK prints the logs of several hosts."""

import re
from collections.abc import Sequence

from analyzer.ingest.logs.collectors.line_styles import CollectedLine
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_STATUS = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]\w+ - [^\x1b]*)?"
"""Regex for the status of a job that SageMaker's SDK prints without a line break behind it."""
_IN_COLOUR = re.compile(_STATUS + r"\x1b\[(?P<colour>\d[\d;]*)m(?P<text>[^\x1b]*)\x1b\[0?m\s*$")
"""Regex for a line that has one colour from its first to its last character, behind a status at most."""
_OPENED = re.compile(_STATUS + r"\x1b\[(?P<colour>[1-9][\d;]*)m(?P<text>[^\x1b]*)$")
"""Regex for the first line of several that have one colour, as a dump of the environment over many lines."""
_CLOSED = re.compile(r"(?P<text>[^\x1b]*)\x1b\[0?m\s*$")
"""Regex for the last one of them."""
_MIN_LINES = 3
"""Lines of TensorFlow's runtime in each colour."""
_MIN_SHARE = 0.8
_CHECKED = 400


class Coloured:
    """Parses lines whose terminal colour tells which host wrote them; needs the raw escape sequences."""

    def __call__(self, line: str) -> CollectedLine | None:
        """Return the text of a line, with its colour as the key of the writer.

        None for a line without an escape sequence, such as one in the middle of a coloured event.
        """
        if found := _IN_COLOUR.match(line) or _OPENED.match(line):
            return CollectedLine(f"colour {found['colour'].replace(';', '-')}", found["text"])
        closed = _CLOSED.match(line)
        return closed and CollectedLine(None, closed["text"], follows=True)


def coloured_style(lines: Sequence[str]) -> Coloured | None:
    """Return a parser if the lines have several colours, one for each writer; else None.

    Each colour must have lines of level I from TensorFlow's runtime: a tool that colours by level gives
    warnings and errors a colour without any.
    """
    sample = [line for line in lines if line.strip()][:_CHECKED]
    found = [match for line in sample if (match := _IN_COLOUR.match(line))]
    if len(found) + _within(sample) < _MIN_SHARE * len(sample):
        return None
    begun = [match for match in found if begins_own_line(match["text"])]
    colours = {match["colour"] for match in begun}
    counts = [sum(_informs(match["text"]) for match in begun if match["colour"] == each) for each in colours]
    return Coloured() if len(colours) > 1 and min(counts) >= _MIN_LINES else None


def _within(lines: Sequence[str]) -> int:
    """Return the number of lines in coloured events that span several lines."""
    opened, count = None, 0
    for at, line in enumerate(lines):
        if opened is not None and _CLOSED.match(line) and not _IN_COLOUR.match(line):
            count, opened = count + at - opened + 1, None
        elif "\x1b" in line:
            opened = at if _OPENED.match(line) else None
    return count


def _informs(text: str) -> bool:
    found = head(text)
    return found is not None and found.kind == "cpp" and found.level == "I"
