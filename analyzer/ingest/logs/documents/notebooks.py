"""Jupyter notebooks: what the cells printed, as text and as errors with their tracebacks."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import NoLogsError, TextLine, parsed_json

_REMOTE = re.compile(
    r"\b(?:ssh|pdsh -w|srun -w|kubectl logs|docker logs)(?: -\S+)* (?:[\w.-]+@)?(?P<host>[\w.-]+)"
)
"""Regex for commands that print what another machine or container wrote."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines that the cells printed.

    If several cells fetched a worker's log each, as by `kubectl logs`, the output of each is a stream of its
    own. The cell's command, or the heading above it, names the worker.

    Raises:
        BrokenError: the text breaks off.
        NoLogsError: no cell printed anything.
    """
    whole = parsed_json(text)
    cells = whole.get("cells") if isinstance(whole, dict) else None
    printed = [*_printed(cells if isinstance(cells, list) else [])]
    if not any(lines for _, lines in printed):
        raise NoLogsError("a notebook whose cells have no outputs")
    told = {stream for stream, lines in printed if stream and lines}
    return [TextLine(stream if len(told) > 1 else "", line) for stream, lines in printed for line in lines]


def _printed(cells: Sequence[object]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield for each cell the name of the log that it shows, empty for none, and the lines it printed."""
    above = ""
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            above = next(filter(None, (stream_below(line) for line in source.splitlines())), above)
            continue
        asked = next(_asked(source), "") or above
        lines = [line for output in cell.get("outputs") or () for line in _lines(output)]
        yield asked, lines


def _asked(source: str) -> Iterator[str]:
    """Yield the tasks and hosts whose logs the commands of a cell print."""
    for line in source.splitlines():
        command = line.strip().lstrip("!%")
        if named := stream_below(f"$ {command}"):
            yield named
        if found := _REMOTE.search(command):
            yield found["host"]


def _lines(output: object) -> Iterator[str]:
    """Yield the lines of one output: a stream, an error, or a result that has a form as text."""
    if not isinstance(output, dict):
        return
    data: Any = output.get("data")
    texts = [_joined(output.get("text")), _joined(data.get("text/plain")) if isinstance(data, dict) else ""]
    yield from (line for text in texts for line in text.splitlines())
    for frame in output.get("traceback") or ():
        yield from str(frame).splitlines()


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else text if isinstance(text, str) else ""
