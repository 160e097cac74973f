"""Leaves out the fields that a shipper of logs, such as Fluent Bit, adds to each line that it captured.

TensorFlow's C++ logger and Python's tracebacks write lines, not objects: whatever fields stand beside such
lines, a shipper added, and it added the same fields to the other lines.
"""

from collections.abc import Iterable, Iterator, Sequence

from analyzer.ingest.logs.collectors import structured
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_MIN_LINES = 3
"""Lines of TensorFlow's or of tracebacks that show what a shipper adds."""


def without_added_fields(style: Style, sample: Sequence[str]) -> Style:
    """Return a style of JSON entries that leaves out the fields that a shipper adds to each."""
    added = _added_fields(filter(None, map(structured.parse, sample)))
    if not added:
        return style

    def read(line: str) -> CollectedLine | None:
        found, entry = style(line), structured.parse(line)
        if found is None or entry is None:
            return found
        return found._replace(text=structured.render(_without(entry, added)))

    return read


def _added_fields(entries: Iterable[structured.Entry]) -> frozenset[str]:
    """Return the fields common to all entries with a line of TensorFlow or Python; empty if these are few."""
    captured = [{*_fields(entry)} for entry in entries if begins_own_line(structured.message(entry))]
    return frozenset(set.intersection(*captured)) if len(captured) >= _MIN_LINES else frozenset()


def _fields(entry: structured.Entry) -> Iterator[str]:
    """Yield the names of an entry's fields that say more than its message and its time."""
    for fields in (entry, structured.payload(entry)):
        yield from (name for name in fields if name not in structured.SAID_KEYS)


def _without(entry: structured.Entry, names: frozenset[str]) -> structured.Entry:
    return {
        name: _without(value, names) if name in structured.PAYLOAD_KEYS and isinstance(value, dict) else value
        for name, value in entry.items()
        if name not in names
    }
