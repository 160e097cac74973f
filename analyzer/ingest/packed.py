"""Compressed files, by their first bytes; names lie."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

LARGEST = 4 << 30
"""Bytes that a compressed file may grow to."""

_MAGIC: Mapping[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": lambda data: gzip.decompress(data),
    b"BZh": lambda data: bz2.decompress(data),
    b"\xfd7zXZ\x00": lambda data: lzma.decompress(data),
    b"\x28\xb5\x2f\xfd": lambda data: _zstandard(data),
}


def unpacked(path: Path) -> bytes:
    """The contents of a file, decompressed where it is compressed.

    Raises:
        OSError: it cannot be read or decompressed.
    """
    data = path.read_bytes()
    for magic, decompress in _MAGIC.items():
        if data.startswith(magic):
            try:
                return decompress(data)
            except (EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise OSError(f"is compressed, and broken: {error}") from error
    return data


def _zstandard(data: bytes) -> bytes:
    import zstandard

    try:
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(LARGEST)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
