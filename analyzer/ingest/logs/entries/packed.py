"""Unpacks log entries that JSON carries as a text: Base64, as in message queues, or JSON in a string."""

import json
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.ingest.logs.collectors.structured import MESSAGE_KEYS, is_log_entry
from analyzer.ingest.logs.entries.json_lines import objects_in_turn
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.reader_output import is_too_dense
from analyzer.model.lazy_regex import lazy_regex

Entry = dict[str, Any]
_DATA = frozenset({"data", "Data"})
"""Names of what a message of a queue carries: of Pub/Sub, Kinesis, and of CloudWatch's subscriptions."""
OPENING = lazy_regex(
    rb'"[dD]ata"\s*:\s*"[A-Za-z0-9+/]{24}'
     rb'|"(?!(?:' + "|".join(MESSAGE_KEYS).encode() + rb')")\w{1,40}"\s*:\s*"\{\\"'
)  # fmt: skip
"""Regex for the beginning of such a text."""
_MAX_BYTES = 8 << 20
"""Size limit for what one text unpacks to; CloudWatch sends a megabyte at most."""
_MAX_DEPTH = 4
_GZIP = b"\x1f\x8b"


class _Line(Entry):
    """The text of one log line that was encoded in Base64, as a dict with the key `message`."""


def unpacked(text: str) -> list[tuple[int, Entry]]:
    """Return line number (from 1) and content of each JSON object whose content is compressed or in Base64.

    Returns an empty list unless nearly all objects of the file are such, or if the file is not JSON.
    """
    found = objects_in_turn(text)
    found = found if len(found) > 1 else [(0, each) for each in _listed(text)]
    opened = [(line, content) for line, each in found if (content := _content(each, _MAX_DEPTH)) is not None]
    plain = [each for _, each in opened if isinstance(each, _Line)]
    if plain and not any(head(each["message"]) for each in plain):
        return []
    return opened if 10 * len(opened) >= 9 * len(found) else []


def _listed(text: str) -> Iterator[Entry]:
    """Yield the objects in a JSON list, in the first list of a JSON object, or else that object itself."""
    try:
        whole = None if is_too_dense(text.encode()) else json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    lists = [each for each in whole.values() if isinstance(each, list)] if isinstance(whole, dict) else []
    objects = whole if isinstance(whole, list) else lists[0] if lists else [whole]
    yield from (each for each in objects if isinstance(each, dict))


def _content(value: Mapping[str, Any], depth: int) -> Entry | None:
    """Return the object that is packed in another one, with the plain values beside it if it is no entry."""
    for name, part in value.items():
        if isinstance(part, dict) and depth:
            found = _content(part, depth - 1)
        else:
            found = _opened(name, part) if isinstance(part, str) else None
        if found is not None:
            plain = {key: each for key, each in value.items() if isinstance(each, str | int | float)}
            plain.pop(name, None)
            return found if is_log_entry(found) or "logEvents" in found else plain | found
    return None


def _opened(name: str, text: str) -> Entry | None:
    """Return the object that a text holds; None for the message of an entry, and for any other text.

    A line in Base64, as Woodpecker and Pub/Sub have it, is the message of an entry.
    """
    packed = _of_base64(text) if name in _DATA else text
    if name in _DATA and packed[:1] != "{":
        is_text = packed != text and packed and packed.replace("\t", " ").isprintable()
        return _Line(message=packed) if is_text or not text else None
    if name in MESSAGE_KEYS or packed[:1] != "{":
        return None
    try:
        found = None if is_too_dense(packed.encode()) else json.loads(packed)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _of_base64(text: str) -> str:
    try:
        data = b64decode(text, validate=True)
        data = (
            zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _MAX_BYTES)
            if data[:2] == _GZIP
            else data
        )
    except (ValueError, zlib.error):
        return text
    return data.decode("utf-8", "replace")
