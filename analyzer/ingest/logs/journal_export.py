"""Entries of systemd's journal as `journalctl -o export` writes them.

Each field is a line, and a blank line ends an entry. A value with line breaks stands below its name, behind
its length in eight bytes.
"""

from collections.abc import Iterator

FIRST_FIELD = b"__CURSOR="
_KEPT = frozenset(
    {"MESSAGE", "__REALTIME_TIMESTAMP", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "_PID"}
)
_LENGTH_BYTES = 8


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
