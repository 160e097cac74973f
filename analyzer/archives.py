"""Archives, taken apart into a scratch directory: a whole run is often handed over as one file.

Members are named, not trusted: nothing leaves the scratch directory, links and devices are not made, and
what exceeds the limits is said and left out.
"""

from __future__ import annotations

import lzma
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

MOST_MEMBERS = 20_000
MOST_BYTES = 64 << 30
MOST_RATIO = 1_000
"""Unpacked over packed size; a log compresses well, but not like this."""

ARCHIVE_SUFFIX = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz|zst))$", re.IGNORECASE)
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_Opened = Callable[[], IO[bytes]]


class Member(NamedTuple):
    """One file of an archive: its name in it, where it lies now, or why it was left out."""

    name: str
    path: Path
    skip: str = ""


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it is an archive."""
    return bool(ARCHIVE_SUFFIX.search(path.name))


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
    except _BROKEN as error:
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
    except _BROKEN as error:
        return str(error)
    return ""


def _entries(archive: Path) -> Iterator[tuple[str, int, _Opened]]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    link = stat.S_ISLNK(info.external_attr >> 16)
                    yield info.filename, -1 if link else info.file_size, partial(packed.open, info)
        return
    with _stream(archive) as stream, tarfile.open(fileobj=stream, mode="r|*") as tar:
        for member in tar:
            if not member.isdir():
                yield member.name, member.size if member.isreg() else -1, partial(_file, tar, member)


def _file(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(member)
    if file is None:
        raise OSError("no regular file")
    return file


@contextmanager
def _stream(archive: Path) -> Iterator[IO[bytes]]:
    with archive.open("rb") as packed:
        if not archive.name.lower().endswith(".zst"):
            yield packed
            return
        import zstandard

        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as plain:
                yield plain
        except zstandard.ZstdError as error:
            raise OSError(error) from error
