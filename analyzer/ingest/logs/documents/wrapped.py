"""Text copied from a terminal that broke long lines at its width, as tmux and screen save their windows.

Programs print lines of all lengths. If many different lines have exactly the same length, none is longer, and
lines of TensorFlow's runtime go on below, a terminal of that width broke them.
"""

import re
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.collectors.learned import begins_own_line
from analyzer.ingest.logs.documents import MAX_WIDTH, MIN_WIDTH, TextLine
from analyzer.ingest.logs.prefixes import head
from analyzer.ingest.logs.text import ESCAPES

_MIN_FULL = 6
"""Different lines of the terminal's width in a file."""
_MIN_BROKEN = 3
"""Lines that TensorFlow began, of the terminal's width, below which another text goes on."""
_MIN_SHARE = 0.9
"""Share of TensorFlow's lines of the terminal's width that go on below."""
_DIGITS = re.compile(r"\d+")
_NO_YEAR = 1970


def read(text: str) -> Sequence[TextLine]:
    """Return the lines as they were printed, with the number of their first part; none if none is broken."""
    lines = _shown(text)
    width = max(map(len, lines), default=0)
    full = [at for at, line in enumerate(lines[:-1]) if len(line) == width]
    kinds = {_DIGITS.sub("", lines[at]) for at in full}
    begun = [at for at in full if begins_own_line(lines[at])]
    broken = [at for at in begun if not _begins(lines[at + 1])]
    is_width = MIN_WIDTH <= width <= MAX_WIDTH
    if not is_width or len(kinds) < _MIN_FULL or len(broken) < max(_MIN_BROKEN, _MIN_SHARE * len(begun)):
        return ()
    return [TextLine("", line, number) for number, line in _joined(lines, width)]


def _joined(lines: Sequence[str], width: int) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, of the first part of each line, and the line."""
    begin, held = 1, ""
    for number, line in enumerate(lines, 1):
        held += line
        is_last = number == len(lines)
        if len(line) < width or is_last or _begins(lines[number]):
            if held or not is_last:
                yield begin, held
            begin, held = number + 1, ""


def _begins(line: str) -> bool:
    """Return True for the first part of a line that a logger or Python began."""
    return begins_own_line(line) or head(line, _NO_YEAR) is not None


def _shown(text: str) -> list[str]:
    return [ESCAPES.sub("", line).rstrip("\r") for line in text.split("\n")]
