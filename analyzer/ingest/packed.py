"""Compressed files, by their first bytes; names lie.

They are decompressed a little at a time, so that one which breaks off keeps what stands before the break, and
one which was made to fill a memory is cut where it exceeds the limit.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple, Protocol

LARGEST = 4 << 30
"""Bytes that a compressed file may grow to."""

_CUT = "is compressed, and cut short"
_SUFFIXES = {".gz", ".bz2", ".xz", ".zst"}

_STEP = 1 << 10
"""Compressed bytes that are taken at once; in all four formats they grow to some 30 MB at most."""


class Unpacked(NamedTuple):
    """The contents of a file, and what is wrong with it; `damage` is empty where they are whole."""

    data: bytes
    damage: str = ""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def unpacked(path: Path) -> Unpacked:
    """The contents of a file, decompressed where it is compressed.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    data = path.read_bytes()
    magic = _magic(data)
    if magic is None:
        return Unpacked(data, _CUT if _is_cut_at_once(path, data) else "")
    found = _decompressed(data, magic)
    if found.damage and not found.data:
        raise OSError(found.damage)
    return found


@contextmanager
def plain(path: Path) -> Iterator[tuple[Path, str]]:
    """A file that holds the contents of another, decompressed, and what is wrong with them.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    with path.open("rb") as file:
        begins = file.read(8)
        compressed = _magic(begins) is not None or _is_cut_at_once(path, begins)
    if not compressed:
        yield path, ""
        return
    with NamedTemporaryFile(prefix="mwms-") as copy:
        found = unpacked(path)
        copy.write(found.data)
        copy.flush()
        yield Path(copy.name), found.damage


def _is_cut_at_once(path: Path, data: bytes) -> bool:
    """Whether a file whose name says that it is compressed ends before its contents say so."""
    return path.suffix in _SUFFIXES and any(magic.startswith(data) for magic in _MAGIC)


def _magic(data: bytes) -> bytes | None:
    return next((magic for magic in _MAGIC if data.startswith(magic)), None)


def _decompressed(data: bytes, magic: bytes) -> Unpacked:
    """All members of a compressed file, one behind the other."""
    parts: list[bytes] = []
    size = at = 0
    member = _MAGIC[magic]()
    try:
        while at < len(data):
            part = member.decompress(data[at : at + _STEP])
            parts.append(part)
            at, size = min(at + _STEP, len(data)), size + len(part)
            if size > LARGEST:
                return Unpacked(
                    b"".join(parts)[:LARGEST], f"unpacks to more than {LARGEST} bytes; the rest is left out"
                )
            if member.eof:
                at = _past_padding(data, at - len(member.unused_data))
                if at < len(data):
                    if not data.startswith(magic, at):
                        return Unpacked(
                            b"".join(parts), "bytes that are not compressed follow the compressed ones"
                        )
                    member = _MAGIC[magic]()
    except Exception as error:  # noqa: BLE001 - each of the four libraries has errors of its own
        return Unpacked(b"".join(parts), f"is compressed, and broken: {error}")
    return Unpacked(b"".join(parts), "" if member.eof else _CUT)


def _past_padding(data: bytes, at: int) -> int:
    """Where the next member begins; tapes and xz fill up with zeros."""
    return len(data) - len(data[at:].lstrip(b"\0")) if data[at : at + 1] == b"\0" else at


def _zstandard() -> _Decompressor:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_MAGIC: Mapping[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
