"""Files of Docker's logging driver `local`: messages of protobuf, each between two copies of its size."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from analyzer.model.lazy_regex import lazy_regex

OPENING = lazy_regex(rb"\0[\0-\xff]{3}\x0a\x06std(?:out|err)\x10")
"""Start of such a file: a size of four bytes, the first message's source, and the key of its time."""
_SIZE_BYTES = 4
_MAX_MESSAGE_BYTES = 1_000_000
"""Size limit of a message in Docker itself."""
_SOURCE, _TIME, _LINE, _PARTIAL = 1, 2, 3, 4
"""Numbers of the fields of a message; time is in nanoseconds since 1970."""
_VARINT, _BYTES = 0, 2
_MAX_SECONDS = 253_402_300_799
"""End of the year 9999."""
_Field = int | bytes


def lines_of(data: bytes) -> tuple[list[str], str]:
    """Return the messages as lines of Docker's driver `json-file`, and what is wrong with the file.

    The messages below a damaged one are not read: nothing tells where the next one begins.
    """
    found = [*_messages(data)]
    lines = [_as_json_file(fields) for _, fields in found]
    end = found[-1][0] if found else 0
    return lines, "" if end >= len(data) else f"a message of Docker's driver `local` is damaged at byte {end}"


def _messages(data: bytes) -> Iterator[tuple[int, dict[int, _Field]]]:
    """Yield each message with the place behind it."""
    at = 0
    while at + _SIZE_BYTES <= len(data):
        size = int.from_bytes(data[at : at + _SIZE_BYTES], "big")
        start, end = at + _SIZE_BYTES, at + _SIZE_BYTES + size
        fields = _fields(data[start:end]) if 0 < size <= _MAX_MESSAGE_BYTES and end <= len(data) else {}
        if not isinstance(fields.get(_LINE, b""), bytes) or _SOURCE not in fields:
            return
        at = end + _SIZE_BYTES
        yield at, fields


def _fields(message: bytes) -> dict[int, _Field]:
    """Return the fields of a message by number; none of a damaged one."""
    found: dict[int, _Field] = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == _BYTES:
            found[key >> 3], at = message[at : at + value], at + value
        elif key & 7 == _VARINT:
            found[key >> 3] = value
        else:
            return {}
    return found if at == len(message) else {}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer of variable length at a place, and the place behind it."""
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128 or shift > 63:
            break
    return value, at


def _as_json_file(fields: dict[int, _Field]) -> str:
    line, time = fields.get(_LINE, b""), fields.get(_TIME)
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else ""
    seconds = time / 1e9 if isinstance(time, int) else 0
    source = fields[_SOURCE]
    entry = {
        "log": text if fields.get(_PARTIAL) else f"{text}\n",
        "stream": source.decode("utf-8", "replace") if isinstance(source, bytes) else "",
    }
    if 0 < seconds < _MAX_SECONDS:
        entry["time"] = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
    return json.dumps(entry)
