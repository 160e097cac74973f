"""Recordings of terminals by ttyrec: before each part of the output stand its time and its length."""

import struct
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.text import decode

_HEADER = struct.Struct("<III")


def read(text: str) -> Sequence[TextLine]:
    """Return the lines that the terminal showed, up to a part that breaks off."""
    shown = decode(b"".join(_parts(text.encode("utf-8", "surrogateescape"))))
    return [TextLine("", line) for line in shown.replace("\r\n", "\n").split("\n")]


def _parts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + _HEADER.size <= len(data):
        *_, length = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        yield data[at : at + length]
        at += length
