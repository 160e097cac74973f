"""Finds where the next record of a damaged event file begins."""

from functools import cache
from typing import Any

import google_crc32c

from analyzer.ingest.tensorboard.record_tables import HEADER_BYTES, MASK

SEARCH_BYTES = HEADER_BYTES + 1
"""Bytes by which the beginning of a record is recognized: its header, and the first byte of an Event."""
_LENGTH_BYTES, _USED_BYTES = 8, 3
"""Bytes of a length, and those of them that are not zero in a record below 16 MB."""
_WALL_TIME_FIELD = ord("\t")
_Array = Any
"""An array of numpy, which is imported only when it is used."""


def find_record(buffer: bytes, start: int) -> int | None:
    """Return the first offset from `start` on at which a length below 16 MB has its checksum, else None.

    Checksums are computed for all plausible offsets at once, so hostile bytes cost no more than others.
    Plausible is a length whose upper bytes are zero, followed by the first byte of an Event.
    """
    import numpy as np

    data = np.frombuffer(buffer, np.uint8, offset=start)
    count = len(data) - SEARCH_BYTES + 1
    if count <= 0:
        return None
    plausible = data[HEADER_BYTES:] == _WALL_TIME_FIELD
    for at in range(_USED_BYTES, _LENGTH_BYTES):
        plausible &= data[at : at + count] == 0
    offsets = np.flatnonzero(plausible)
    stored = sum(data[offsets + _LENGTH_BYTES + at].astype(np.uint32) << np.uint32(8 * at) for at in range(4))
    found = offsets[_length_checksums(data, offsets) == stored]
    return start + int(found[0]) if len(found) else None


def _length_checksums(data: _Array, offsets: _Array) -> _Array:
    """Return the masked CRC-32C of the record length at each offset.

    CRC-32C is linear: a table lookup for each byte that is not zero, joined with xor, gives the checksum.
    """
    import numpy as np

    of_zero, of_bytes = _checksum_tables()
    check = np.full(len(offsets), of_zero, np.uint32)
    for at, table in enumerate(of_bytes):
        check ^= table[data[offsets + at]]
    return (check >> np.uint32(15) | check << np.uint32(17)) + np.uint32(MASK)


@cache
def _checksum_tables() -> tuple[int, list[_Array]]:
    """Return the CRC-32C of length 0, and by how much each value of each used byte changes it."""
    import numpy as np

    of_zero = google_crc32c.value(bytes(_LENGTH_BYTES))
    values = (value << 8 * at for at in range(_USED_BYTES) for value in range(256))
    lengths = (value.to_bytes(_LENGTH_BYTES, "little") for value in values)
    changes = np.array([google_crc32c.value(length) ^ of_zero for length in lengths], np.uint32)
    return of_zero, list(changes.reshape(_USED_BYTES, 256))
