"""Counts the newlines of a block of a log, and finds NUL bytes and invalid UTF-8."""

from codecs import utf_8_decode
from typing import NamedTuple

import stringzilla

_NEWLINE_TO_ONE = bytes(byte == ord("\n") for byte in range(256))
"""Translation table: a newline becomes 1 and every other byte 0, so that the sum is their number.

Takes 0.05 s per GB however short the lines are; `bytes.count` takes 0.3 to 0.6 s.
"""
_DECODED_BYTES = 32 << 10
"""Number of bytes decoded at once: for a whole block, allocating memory takes longer than decoding."""
_NUL_OR_NON_ASCII = bytes([0, *range(0x80, 0x100)])

Data = bytes | bytearray


class InvalidBytes(NamedTuple):
    """Offsets of the first NUL byte and of the first byte that is not UTF-8; None where there is none."""

    nul: int | None
    undecodable: int | None


def count_newlines(data: Data, start: int, end: int) -> int:
    """Count the newlines in `data[start:end]`."""
    newlines: int = stringzilla.bytesum(stringzilla.translate(data, _NEWLINE_TO_ONE, start=start, end=end))
    return newlines


def first_invalid_bytes(data: Data) -> InvalidBytes:
    """Return the offsets of the first NUL byte and of the first byte that is not UTF-8."""
    first = stringzilla.find_first_of(data, _NUL_OR_NON_ASCII)
    if first < 0:
        return InvalidBytes(None, None)
    nul = data.find(b"\0", first)
    return InvalidBytes(None if nul < 0 else nul, _first_undecodable(data))


def _first_undecodable(data: Data) -> int | None:
    at = 0
    while at < len(data):
        end = at + _DECODED_BYTES
        try:
            at += utf_8_decode(data[at:end], "strict", end >= len(data))[1]
        except UnicodeDecodeError as error:
            return at + error.start
    return None
