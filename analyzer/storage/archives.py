"""Archives, taken apart into a scratch directory: a whole run is often handed over as one file.

Members are named, not trusted: nothing leaves the scratch directory, links and devices are not made, and
what exceeds the limits is said and left out.
"""

from __future__ import annotations

import bz2
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol, Self, cast

from analyzer.model.task_names import ARCHIVE_SUFFIX

MOST_MEMBERS = 20_000
MOST_BYTES = 64 << 30
MOST_RATIO = 1_000
"""Unpacked over packed size; a log compresses well, but not like this."""

_STEP = 1 << 10
"""Bytes that are taken at once."""
_MOST_ZEROS = 1 << 16
"""Steps behind the end of an archive that are looked at."""
_Opened = Callable[[], IO[bytes]]


class Member(NamedTuple):
    """One file of an archive: its name in it, where it lies now, or why it was left out."""

    name: str
    path: Path
    skip: str = ""


def unpack(archive: Path, scratch: Path) -> list[Member]:
    """Every file of an archive, unpacked below `scratch`; a broken one gives what stood before the break.

    What a directory would hide is left out without a word. A member that is broken costs itself alone.
    """
    members: list[Member] = []
    broken: list[str] = []
    budget = min(MOST_BYTES, max(1 << 30, archive.stat().st_size * MOST_RATIO))
    try:
        for stated, size, opened in _entries(archive):
            name = str(PurePosixPath(stated))
            if _is_hidden(name):
                continue
            target = scratch / str(len(members))
            reason = _refuse(name, size, len(members), budget)
            budget -= 0 if reason else size
            fault = "" if reason else _copy(opened, target)
            if fault and target.exists() and target.stat().st_size:
                broken.append(f"{name} breaks off: {fault}")
                fault = ""
            members.append(Member(name, target, reason or (fault and f"cannot be unpacked: {fault}")))
            if len(members) > MOST_MEMBERS:
                break
    except Exception as error:  # noqa: BLE001 - what Python's libraries raise on rubbish has no common name
        broken.append(f"the archive is broken: {error}")
    return [*members, Member("", archive, "; ".join(broken[:3]))] if broken else members


def _is_hidden(name: str) -> bool:
    """Whether it is for some program and not for people: names with a dot in front, and what macOS adds."""
    parts = PurePosixPath(name).parts
    return any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in parts)


def _refuse(name: str, size: int, number: int, budget: int) -> str:
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        return "its name leads out of the archive"
    if size < 0:
        return "no regular file"
    if ARCHIVE_SUFFIX.search(name):
        return "an archive inside an archive is not opened; unpack it first"
    if number >= MOST_MEMBERS:
        return f"the archive holds more than {MOST_MEMBERS} files"
    return f"the archive unpacks to more than {budget} bytes here" if size > budget else ""


def _copy(opened: _Opened, target: Path) -> str:
    """Unpack a member; what went wrong, empty when nothing did."""
    try:
        with opened() as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 16)
    except Exception as error:  # noqa: BLE001 - as above
        return str(error) or type(error).__name__
    return ""


def _entries(archive: Path) -> Iterator[tuple[str, int, _Opened]]:
    if archive.name.lower().endswith(".zip"):
        yield from _zipped(archive)
        return
    with (
        archive.open("rb") as packed,
        tarfile.open(fileobj=_plain(packed), mode="r|", tarinfo=_Header) as tar,
    ):
        for member in tar:
            if not member.isdir():
                yield member.name, member.size if member.isreg() else -1, partial(_file, tar, member)
        _check_end(tar)


def _zipped(archive: Path) -> Iterator[tuple[str, int, _Opened]]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            if not info.filename.endswith("/"):
                link = stat.S_ISLNK(info.external_attr >> 16)
                yield info.filename, -1 if link else info.file_size, partial(packed.open, info)
        before = min((info.header_offset for info in packed.infolist()), default=0)
        if before:
            raise OSError(f"its list of files leaves out its first {before} bytes")


class _Header(tarfile.TarInfo):
    """The header of a member. Where one is damaged or missing, Python would take it for the end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):  # the mark of the end
                raise
            what = f"a damaged header: {error}" if buf else "it is cut short"
            raise tarfile.ReadError(what) from error


def _check_end(tar: tarfile.TarFile) -> None:
    """Raise where an archive goes on behind the mark of its end; only zeros fill it up."""
    read = cast(IO[bytes], tar.fileobj).read
    for _ in range(_MOST_ZEROS):
        block = read(_STEP)
        if not block:
            return
        if block.count(0) < len(block):
            raise OSError("there is more behind its end, as of a second archive")


def _file(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(member)
    if file is None:
        raise OSError("no regular file")
    return file


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Plain:
    """Pieces of a file as one stream; what they raise comes behind all that stands before it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""
        self._fault: OSError | None = None

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end.

        Raises:
            OSError: here the file is broken.

        """
        try:
            while (
                len(self._left) < size
                and self._fault is None
                and (piece := next(self._pieces, None)) is not None
            ):
                self._left += piece
        except OSError as error:
            self._fault = error
        found, self._left = self._left[:size], self._left[size:]
        if self._fault and not found:
            raise self._fault
        return found


def _plain(packed: IO[bytes]) -> IO[bytes]:
    """The contents of a file, decompressed where its first bytes say that it is compressed; names lie."""
    begins = packed.read(_LONGEST_MAGIC)
    packed.seek(0)
    new = next((new for magic, new in _MAGIC.items() if begins.startswith(magic)), None)
    return cast(IO[bytes], _Plain(_decompressed(packed, new))) if new else packed


def _decompressed(packed: IO[bytes], new: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """The contents of all members of a compressed file; little is taken at once, for a break costs that."""
    member = new()
    while data := packed.read(_STEP):
        while data := data.lstrip(b"\0") if member.eof else data:
            member = new() if member.eof else member
            try:
                yield member.decompress(data)
            except Exception as error:
                raise OSError(f"it is compressed, and broken: {error}") from error
            data = member.unused_data if member.eof else b""
    if not member.eof:
        raise OSError("it is compressed, and cut short")


def _zstandard() -> _Decompressor:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_MAGIC: Mapping[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x5d\x00\x00\x80": lzma.LZMADecompressor,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
_LONGEST_MAGIC = 6
