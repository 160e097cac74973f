"""The bytes of a file, decompressed where it is compressed, a part at a time.

What a file is compressed with, its first bytes tell; names lie. One that breaks off keeps what stands before
the break, and one that was made to fill a memory is cut where it exceeds the limit.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

LARGEST = 64 << 30
"""Bytes that a compressed file may grow to."""

LARGEST_WHOLE = 64 << 20
"""Bytes of a file that is held as a whole, as logs, event files and traces never are."""

PART = 512 << 10
"""Bytes of a plain file that are read at once."""

_LINE = 4 << 10
"""Bytes before the end of a part in which the end of a line is looked for."""
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


class Parts:
    """The contents of a file, a part at a time; once they are taken, `damage` says what is wrong with them.

    A file that grows is read as far as it reached when it was opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self.taken = 0
        """Bytes of the file itself that have been taken so far."""

    def __iter__(self) -> Iterator[bytes]:
        """Open the file and read it.

        Raises:
            OSError: it cannot be read, or not one byte of it can be decompressed.
        """
        with self.path.open("rb") as file:
            begins = file.read(8)
            magic = _magic(begins)
            file.seek(0)
            yield from self._decompressed(file, magic) if magic else self._plain(file)
        if _is_cut_at_once(self.path, begins):
            self.damage = _CUT

    def _plain(self, file: BinaryIO) -> Iterator[bytes]:
        size = os.fstat(file.fileno()).st_size
        while self.taken < size and (part := os.pread(file.fileno(), self._most(file, size), self.taken)):
            self.taken += len(part)
            yield part
        now = os.fstat(file.fileno()).st_size
        self.damage = changed(size, self.taken if self.taken < size else max(size, now))

    def _most(self, file: BinaryIO, size: int) -> int:
        """Bytes of the next part: all that are left, or so many that a line ends there, where one does."""
        if size - self.taken <= PART:
            return size - self.taken
        last = os.pread(file.fileno(), _LINE, self.taken + PART - _LINE)
        return PART - len(last) + (last.rfind(b"\n") + 1 or len(last))

    def _decompressed(self, file: BinaryIO, magic: bytes) -> Iterator[bytes]:
        size = 0
        try:
            for part in self._members(file, magic):
                yield part[: LARGEST - size]
                size += len(part)
                if size > LARGEST:
                    self.damage = f"unpacks to more than {LARGEST} bytes; the rest is left out"
                    return
        except Exception as error:  # noqa: BLE001 - each of the four libraries has errors of its own
            self.damage = f"is compressed, and broken: {error}"
        if self.damage and not size:
            raise OSError(self.damage)

    def _members(self, file: BinaryIO, magic: bytes) -> Iterator[bytes]:
        """All members of a compressed file, one behind the other."""
        member, packed = _MAGIC[magic](), b""
        while packed := packed or file.read(_STEP):
            self.taken = file.tell()
            if part := member.decompress(packed):
                yield part
            packed = b""
            if member.eof:
                packed = _next_member(member.unused_data, file)
                if not packed:
                    return
                if not packed.startswith(magic):
                    self.damage = "bytes that are not compressed follow the compressed ones"
                    return
                member = _MAGIC[magic]()
        self.damage = _CUT


def changed(size: int, now: int) -> str:
    """What has become of a file of that size while it was read; empty where nothing has."""
    if now < size:
        return f"was cut to {now} bytes while it was read"
    return f"was still being written; read as far as it reached, {size} bytes" if now > size else ""


def is_packed(begins: bytes) -> bool:
    """Whether the first bytes of a file say that it is compressed."""
    return _magic(begins) is not None


def unpacked(path: Path) -> Unpacked:
    """The contents of a file that is to be held as a whole.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    parts, held, size = Parts(path), [], 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size > LARGEST_WHOLE:
            what = f"holds more than {LARGEST_WHOLE} bytes; the rest is left out"
            return Unpacked(b"".join(held)[:LARGEST_WHOLE], what)
    return Unpacked(b"".join(held), parts.damage)


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
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(prefix="mwms-") as copy:
        parts = Parts(path)
        copy.writelines(parts)
        copy.flush()
        yield Path(copy.name), parts.damage


def _is_cut_at_once(path: Path, data: bytes) -> bool:
    """Whether a file whose name says that it is compressed ends before its contents say so."""
    return path.suffix in _SUFFIXES and any(magic.startswith(data) for magic in _MAGIC)


def _magic(data: bytes) -> bytes | None:
    return next((magic for magic in _MAGIC if data.startswith(magic)), None)


def _next_member(rest: bytes, file: BinaryIO) -> bytes:
    """What follows a member, without the zeros that tapes and xz fill up with; empty at the end."""
    while not (rest := rest.lstrip(b"\0")):
        if not (rest := file.read(_STEP)):
            return b""
    return rest if len(rest) >= _LONGEST_MAGIC else rest + file.read(_STEP)


def _bz2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> _Decompressor:
    import lzma

    return lzma.LZMADecompressor()


def _zstandard() -> _Decompressor:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_MAGIC: Mapping[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": _bz2,
    b"\xfd7zXZ\x00": _xz,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
_LONGEST_MAGIC = max(map(len, _MAGIC))
