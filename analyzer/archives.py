"""Archives, taken apart into a scratch directory: a whole run is often handed over as one file.

Members are named, not trusted: nothing leaves the scratch directory, links and devices are not made, and
what exceeds the limits is said and left out.
"""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

MOST_MEMBERS = 20_000
MOST_BYTES = 64 << 30
MOST_RATIO = 1_000
"""Unpacked over packed size; a log compresses well, but not like this."""

ARCHIVE_SUFFIX = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz|zst))$", re.IGNORECASE)
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, tarfile.TarError, zipfile.BadZipFile, zlib.error)


class Member(NamedTuple):
    """One file of an archive: its name in it, where it lies now, or why it was left out."""

    name: str
    path: Path
    skip: str = ""


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it is an archive."""
    return bool(ARCHIVE_SUFFIX.search(path.name))


def unpack(archive: Path, scratch: Path) -> list[Member]:
    """Every file of an archive, unpacked below `scratch`; a broken one gives what stood before the break."""
    members: list[Member] = []
    budget = min(MOST_BYTES, max(1 << 30, archive.stat().st_size * MOST_RATIO))
    try:
        for name, size, opened in _entries(archive):
            target = scratch / str(len(members)) / PurePosixPath(name).name
            reason = _refuse(name, size, len(members), budget)
            budget -= 0 if reason else size
            members.append(Member(name, target, reason))
            if not reason:
                _copy(opened, target)
            if len(members) > MOST_MEMBERS:
                break
    except _BROKEN as error:
        members.append(Member("", archive, f"the archive is broken: {error}"))
    return members


def _refuse(name: str, size: int, number: int, budget: int) -> str:
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        return "its name leads out of the archive"
    if size < 0:
        return "no regular file"
    if number >= MOST_MEMBERS:
        return f"the archive holds more than {MOST_MEMBERS} files"
    return f"the archive unpacks to more than {budget} bytes here" if size > budget else ""


def _copy(opened: object, target: Path) -> None:
    target.parent.mkdir(parents=True)
    with opened as source, target.open("wb") as copy:  # type: ignore[attr-defined]
        shutil.copyfileobj(source, copy, 1 << 20)


def _entries(archive: Path) -> Iterator[tuple[str, int, object]]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield info.filename, info.file_size, packed.open(info)
        return
    with _stream(archive) as stream, tarfile.open(fileobj=stream, mode="r|*") as tar:
        for member in tar:
            if not member.isdir():
                yield (
                    member.name,
                    member.size if member.isreg() else -1,
                    tar.extractfile(member) if member.isreg() else None,
                )


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
