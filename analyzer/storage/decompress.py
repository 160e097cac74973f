"""Reads files chunk by chunk, decompressing those that are compressed.

Compression is detected from the first bytes of a file, not from its name. A truncated file yields everything
before the damage; contents beyond a size limit are cut.
"""

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from analyzer.model.budget import Budget, OverBudgetError

MAX_RATIO = 1_000
"""Highest accepted ratio of unpacked to packed size; no log compresses this well."""
MIN_LIMIT_BYTES = 256 << 20
"""Unpacked bytes that every archive or file may have, however small it is."""
MAX_WHOLE_BYTES = 16 << 20
"""Limit for files that are held in memory as a whole; logs, event files and traces never are."""

CHUNK_BYTES = 512 << 10
"""Bytes of an uncompressed file that are read at a time."""
COMPRESSED_STEP = 1 << 10
"""Compressed bytes that are read at a time: damage costs at most these."""
_MAX_LZMA_MEMORY_BYTES = 128 << 20
"""Memory limit of a decompressor: `xz -9` needs 65 MB, but a header may ask for 4 GB."""
_LINE_SEARCH_BYTES = 4 << 10
"""Bytes before the end of a chunk in which the end of a line is looked for."""

_CUT_SHORT = "is compressed, and cut short"
_SUFFIXES = {".gz", ".bz2", ".xz", ".zst"}

_Decompressor = Any
"""A decompressor of zlib, bz2, lzma or zstandard; they have no type in common."""


class _Readable(Protocol):
    """A binary file, or an object with the same `read`."""

    def read(self, size: int, /) -> bytes:
        """Return the next `size` bytes, fewer at the end."""
        ...


class Chunks:
    """Iterates over the contents of a file; afterwards, `damage` says what is wrong with it.

    A growing file is read up to the size that it had when it was opened.
    """

    def __init__(self, path: Path, budget: Budget) -> None:
        self.path, self._budget = path, budget
        self.damage = ""

    def __iter__(self) -> Iterator[bytes]:
        """Open the file and yield its contents.

        Raises:
            OSError: it cannot be read, or not one byte of it can be decompressed.
        """
        with self.path.open("rb") as file:
            head = file.read(8)
            file.seek(0)
            try:
                yield from self._decompressed(file) if is_compressed(head) else self._plain(file)
            except OverBudgetError as spent:
                self.damage = str(spent)
        if _is_cut_inside_magic(self.path, head):
            self.damage = _CUT_SHORT

    def _plain(self, file: BinaryIO) -> Iterator[bytes]:
        size, read = os.fstat(file.fileno()).st_size, 0
        while read < size and (chunk := os.pread(file.fileno(), _chunk_size(file, read, size), read)):
            read += len(chunk)
            yield chunk
            self._budget.spend()
        now = os.fstat(file.fileno()).st_size
        self.damage = describe_change(size, read if read < size else max(size, now))

    def _decompressed(self, file: BinaryIO) -> Iterator[bytes]:
        size, limit = 0, unpacked_limit(os.fstat(file.fileno()).st_size)
        try:
            for chunk in decompress_members(file):
                self._budget.spend(len(chunk))
                yield chunk[: limit - size]
                size += len(chunk)
                if size > limit:
                    self.damage = f"unpacks to more than {limit} bytes; the rest is left out"
                    return
        except OSError as error:
            if not size or isinstance(error, OverBudgetError):
                raise
            self.damage = str(error)


def unpacked_limit(packed: int) -> int:
    """Return how many bytes an archive or compressed file of `packed` bytes may unpack to."""
    return max(MIN_LIMIT_BYTES, packed * MAX_RATIO)


def _chunk_size(file: BinaryIO, read: int, size: int) -> int:
    """Return the size in bytes of the next chunk, which ends with a line if a line end is near its limit."""
    if size - read <= CHUNK_BYTES:
        return size - read
    last = os.pread(file.fileno(), _LINE_SEARCH_BYTES, read + CHUNK_BYTES - _LINE_SEARCH_BYTES)
    return CHUNK_BYTES - len(last) + (last.rfind(b"\n") + 1 or len(last))


def decompress_members(file: _Readable) -> Iterator[bytes]:
    """Yield the contents of all members of a compressed file, one after the other.

    Contents that are compressed themselves, as a web server leaves them, are decompressed too.

    Raises:
        OSError: the file is cut short or broken; everything before the damage has been yielded.
    """
    contents = _members(file)
    first = next(contents, b"")
    whole = chain([first] if first else [], contents)
    yield from _members(ChunkReader(whole)) if is_compressed(first) else whole


class ChunkReader:
    """Reads chunks like a file; an error is raised only after all bytes before it have been read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._held = chunks, b""
        self._error: OSError | None = None

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end.

        Raises:
            OSError: the chunks break off here.
        """
        try:
            while len(self._held) < size and (chunk := next(self._chunks, None)) is not None:
                self._held += chunk
        except OSError as error:
            self._error = error
        found, self._held = self._held[:size], self._held[size:]
        if self._error and not found:
            raise self._error
        return found


def _members(file: _Readable) -> Iterator[bytes]:
    """Yield the contents of all members of a compressed file."""
    magic = _magic(packed := file.read(COMPRESSED_STEP))
    if magic is None:
        raise OSError("is not compressed")
    member = _decompressor(magic)
    while packed := packed or file.read(COMPRESSED_STEP):
        try:
            yield from _expand(member, packed)
        except Exception as error:  # each of the libraries has errors of its own
            raise OSError(f"its compressed data is damaged ({error})") from error
        packed = b""
        if member.eof:
            packed = _next_member(member.unused_data, file)
            if not packed:
                return
            if not packed.startswith(magic):
                raise OSError("holds bytes that are not compressed behind the compressed ones")
            member = _decompressor(magic)
    raise OSError(_CUT_SHORT)


def _expand(member: _Decompressor, packed: bytes) -> Iterator[bytes]:
    """Yield the decompressed bytes, piece by piece: 45 bytes of bz2 may expand to 45 MB."""
    if not hasattr(member, "needs_input"):  # zlib and zstandard expand little in one step
        chunk = member.decompress(packed)
        yield from [chunk] if chunk else []
        return
    while chunk := member.decompress(packed, CHUNK_BYTES):
        yield chunk
        packed = b""
        if member.eof or member.needs_input:
            return


def _next_member(rest: bytes, file: _Readable) -> bytes:
    """Return the first bytes of the next member, after any padding of zeros (tapes, xz); empty at the end."""
    while not (rest := rest.lstrip(b"\0")):
        if not (rest := file.read(COMPRESSED_STEP)):
            return b""
    return rest if len(rest) >= _MAX_MAGIC_BYTES else rest + file.read(COMPRESSED_STEP)


def describe_change(size: int, now: int) -> str:
    """Return in words how a file of `size` bytes changed while it was read; empty if it did not."""
    if now < size:
        return f"was cut to {now} bytes while it was read"
    return f"was still being written; read as far as it reached, {size} bytes" if now > size else ""


def is_compressed(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a compressed file."""
    return _magic(head) is not None


def opening_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, up to `size`, of the contents if it is compressed; UTF-16 as UTF-8.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    with path.open("rb") as file:
        first = file.read(size)
        if not is_compressed(first):
            return narrowed(first)
        file.seek(0)
        held = b""
        try:
            for chunk in decompress_members(file):
                held += chunk
                if len(held) >= size:
                    break
        except OSError:
            if not held:
                raise
        return narrowed(held[:size])


def narrowed(data: bytes) -> bytes:
    """Return UTF-16 or UTF-32 with a byte order mark, as of PowerShell, in UTF-8; other bytes as they are."""
    codec = wide_codec(data)
    return data.decode(codec, "replace").encode("utf-8", "replace") if codec else data


def wide_codec(opening: bytes) -> str:
    """Return the codec that a byte order mark of UTF-16 or UTF-32 states; empty for any other text."""
    if not opening.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return ""
    return "utf-32" if opening.startswith(BOM_UTF32_LE) else "utf-16"


def read_whole(path: Path, budget: Budget) -> tuple[bytes, str]:
    """Return the decompressed contents of a file, up to `MAX_WHOLE_BYTES`, and what is wrong with them.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    chunks, held, size = Chunks(path, budget), [], 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > MAX_WHOLE_BYTES:
            damage = f"holds more than {MAX_WHOLE_BYTES} bytes; the rest is left out"
            return b"".join(held)[:MAX_WHOLE_BYTES], damage
    return b"".join(held), chunks.damage


@contextmanager
def decompressed_file(path: Path, budget: Budget) -> Iterator[tuple[Path, str]]:
    """Yield the path of a decompressed copy (the file itself if not compressed), and what is wrong with it.

    Raises:
        OSError: it cannot be read, or not one byte of it can be decompressed.
    """
    with path.open("rb") as file:
        head = file.read(8)
    if not is_compressed(head) and not _is_cut_inside_magic(path, head):
        yield path, ""
        return
    from analyzer.storage.scratch import ScratchDirectory  # imports modules that a small run never needs

    with ScratchDirectory() as folder:
        chunks, copy = Chunks(path, budget), Path(folder, "copy")
        with copy.open("wb") as file:
            file.writelines(chunks)
        yield copy, chunks.damage


def _is_cut_inside_magic(path: Path, head: bytes) -> bool:
    """Return whether a file with the suffix of a compressed one ends inside the magic number."""
    return path.suffix in _SUFFIXES and any(magic.startswith(head) for magic in _FORMATS)


def _magic(head: bytes) -> bytes | None:
    return next((magic for magic in _FORMATS if head.startswith(magic)), None)


def _decompressor(magic: bytes) -> _Decompressor:
    module, make = _FORMATS[magic]
    return make(import_module(module))


_FORMATS: Mapping[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("zlib", lambda zlib: zlib.decompressobj(31)),
    b"BZh": ("bz2", lambda bz2: bz2.BZ2Decompressor()),
    b"\xfd7zXZ\x00": ("lzma", lambda lzma: lzma.LZMADecompressor(memlimit=_MAX_LZMA_MEMORY_BYTES)),
    b"\x5d\x00\x00\x80": ("lzma", lambda lzma: lzma.LZMADecompressor(memlimit=_MAX_LZMA_MEMORY_BYTES)),
    b"\x28\xb5\x2f\xfd": ("zstandard", lambda zstd: zstd.ZstdDecompressor().decompressobj()),
}
"""Magic number → module, imported on first use, and a function that makes a decompressor of it."""
_MAX_MAGIC_BYTES = max(map(len, _FORMATS))
