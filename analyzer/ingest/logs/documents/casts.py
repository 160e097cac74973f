"""Recordings of terminals by asciinema: a header, then an array a line, with time, kind and characters."""

import json
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.documents import TextLine

_OUTPUT = "o"


def read(text: str) -> Sequence[TextLine]:
    """Return the lines that the terminal showed; a line that is no event is left out."""
    shown = "".join(_shown(text)).replace("\r\n", "\n")
    return [TextLine("", line) for line in shown.split("\n")]


def _shown(text: str) -> Iterator[str]:
    for line in text.splitlines()[1:]:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, list) and len(event) > 2 and event[1] == _OUTPUT:
            yield str(event[2])
