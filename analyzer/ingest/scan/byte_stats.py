"""Counts the newlines of a block of a log, and finds NUL bytes and invalid UTF-8."""

from codecs import utf_8_decode
from typing import NamedTuple

import stringzilla

_SHORT_LINE = 12
"""Bytes; StringZilla jumps from newline to newline, which is slower than `bytes.count` for shorter lines.

For usual lines it is faster: 0.08 s per GB against 0.29 s, a sixth of all processor time of a large run.
"""
_PROBE_BYTES = 1 << 10
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
    probe_end = min(end, start + _PROBE_BYTES)
    in_probe = data.count(b"\n", start, probe_end)
    if in_probe * _SHORT_LINE > probe_end - start:
        return data.count(b"\n", start, end)
    behind_probe: int = stringzilla.count(data, b"\n", probe_end, end)
    return in_probe + behind_probe


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
