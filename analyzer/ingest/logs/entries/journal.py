"""Entries of systemd's journal as `journalctl -o export` and `journalctl -o verbose` write them.

Each field is a line. Of an export, a blank line ends an entry, and a value with line breaks stands below its
name, behind its length in eight bytes. In verbose form, a line with time and cursor begins an entry, and the
further lines of a value are indented as deep as its first.
"""

import re
from collections.abc import Iterator

from analyzer.model.lazy_regex import lazy_regex

FIRST_FIELD = b"__CURSOR="
_KEPT = frozenset(
    {"MESSAGE", "__REALTIME_TIMESTAMP", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "_PID"}
)
_LENGTH_BYTES = 8
_CURSOR = r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ \[s=[0-9a-f]+;[^\]\n]*;t=([0-9a-f]+);"
VERBOSE = lazy_regex(_CURSOR.encode())
"""Start of what `journalctl -o verbose` prints."""
_HEADER = re.compile(_CURSOR)
_FIELD = re.compile(r" {4}([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)


def journal_entries(data: bytes) -> Iterator[dict[str, str]]:
    """Yield the fields of each entry that has a message; of a cut one, those before the cut."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at : len(data) if end < 0 else end]
        at += len(line) + 1
        name, mark, value = line.partition(b"=")
        if line and not mark:
            length = int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
            at += _LENGTH_BYTES
            value = data[at : at + length]
            at += length + 1
        if line:
            fields[name.decode("ascii", "replace")] = value.decode("utf-8", "replace")
            continue
        yield from _told(fields)
        fields = {}
    yield from _told(fields)


def _told(fields: dict[str, str]) -> Iterator[dict[str, str]]:
    if "MESSAGE" in fields:
        yield {name: value for name, value in fields.items() if name in _KEPT}


def verbose_entries(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line, from 1, and the fields of each entry that has a message."""
    begun, fields, name = 0, dict[str, str](), ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            yield from ((begun, each) for each in _told(fields))
            begun, fields = number, {"__REALTIME_TIMESTAMP": str(int(header[1], 16))}
        elif field := _FIELD.match(line):
            name = field[1]
            fields[name] = field[2]
        elif name in fields and line.strip():
            fields[name] += "\n" + line[min(len(line) - len(line.lstrip()), 5 + len(name)) :]
    yield from ((begun, each) for each in _told(fields))
