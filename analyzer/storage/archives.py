"""Unpacks an archive that holds a run, or a mail with its attachments, into a scratch directory.

Archives in it are unpacked too, but not the archives in those. Members are not trusted: nothing is written
outside the scratch directory, links and devices are not made, and what exceeds the limits is left out with a
reason.
"""

import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Self, cast

from analyzer.model.budget import Budget
from analyzer.model.task_names import ARCHIVE_SUFFIX, MAIL_SUFFIXES, OFFICE_SUFFIXES
from analyzer.storage import office
from analyzer.storage.decompress import ChunkReader, decompress_members, is_compressed, unpacked_limit
from analyzer.storage.mail import mail_parts

MAX_MEMBERS = 20_000
_MAX_HEADER_BYTES = 64 << 10
"""Size limit for a long name or extended attributes in a tar, which Python holds in memory."""
_EXTENDED_HEADERS = {
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
}  # fmt: skip
_PADDING_STEP = 1 << 10
_MAX_PADDING_STEPS = 1 << 16
_Open = Callable[[], IO[bytes]]


class Member(NamedTuple):
    """One file of an archive: its name there, its unpacked path, and why it was left out (else empty)."""

    name: str
    path: Path
    skip: str = ""


class _Entry(NamedTuple):
    """A member before it is unpacked; `size` is -1 if it is no regular file."""

    name: str
    size: int
    open: _Open


class _Allowance:
    """Bytes and files that an archive, with the archives in it, may still unpack to."""

    def __init__(self, packed: int) -> None:
        self.limit = self.bytes = unpacked_limit(packed)
        self.files = 0
        """Number of files unpacked so far."""


def unpack(archive: Path, scratch: Path, budget: Budget) -> list[Member]:
    """Unpack every file of an archive below `scratch`, also those of archives that are members of it.

    Of a broken archive, the files before the damage are unpacked. Hidden files are left out without mention.
    A broken member does not affect the others. Damage of the archive itself is reported as a last member
    without a name.
    """
    allowance = _Allowance(archive.stat().st_size)
    unpacked: list[Member] = []
    for member in _unpack(archive, archive.name, scratch, budget, allowance):
        if member.skip or not ARCHIVE_SUFFIX.search(member.name):
            unpacked.append(member)
            continue
        inner = _unpack(member.path, member.name, scratch, budget, allowance, inside=True)
        unpacked += (each._replace(name=f"{member.name}/{each.name}".rstrip("/")) for each in inner)
    return unpacked


def _unpack(
    archive: Path, name: str, scratch: Path, budget: Budget, allowance: _Allowance, *, inside: bool = False
) -> list[Member]:
    """Unpack the files of one archive; `name` tells its format, `inside` whether another archive holds it."""
    members: list[Member] = []
    broken: list[str] = []
    try:
        for entry in _entries(archive, name, allowance.bytes, budget):
            if excess := budget.excess(unpacking=True):
                broken = broken or [excess]
                break
            member = PurePosixPath(entry.name)
            if _is_hidden(member):
                continue
            target = scratch / str(allowance.files)
            reason = _refuse(member, entry.size, allowance, inside=inside)
            allowance.files += 1
            allowance.bytes -= 0 if reason else entry.size
            fault = "" if reason else _copy(entry.open, target, budget)
            if fault and target.exists() and target.stat().st_size:
                broken.append(f"{member} breaks off: {fault}")
                fault = ""
            members.append(Member(str(member), target, reason or (fault and f"cannot be unpacked: {fault}")))
            if allowance.files > MAX_MEMBERS:
                break
    except Exception as error:  # noqa: BLE001 - what Python's libraries raise on rubbish has no common base
        broken.append(budget.excess(unpacking=True) or f"damaged: {error}")
    return [*members, Member("", archive, "; ".join(broken[:3]))] if broken else members


def _is_hidden(member: PurePosixPath) -> bool:
    """Return whether a file is hidden: its name begins with a dot, or macOS added it to the archive."""
    return any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in member.parts)


def _refuse(member: PurePosixPath, size: int, allowance: _Allowance, *, inside: bool) -> str:
    """Return why a member is not unpacked; empty if it is."""
    if member.is_absolute() or ".." in member.parts:
        return "its name leads out of the archive"
    if size < 0:
        return "no regular file"
    if inside and ARCHIVE_SUFFIX.search(str(member)):
        return "an archive that lies two archives deep is not opened; unpack it first"
    if allowance.files >= MAX_MEMBERS:
        return f"the archive holds more than {MAX_MEMBERS} files"
    too_large = f"the archive unpacks to more than {allowance.limit} bytes here"
    return too_large if size > allowance.bytes else ""


def _copy(open_member: _Open, target: Path, budget: Budget) -> str:
    """Unpack a member; return the error in words, empty if there is none."""
    try:
        with open_member() as source, target.open("wb") as copy:
            while chunk := source.read(1 << 16):
                budget.spend(len(chunk))
                copy.write(chunk)
    except Exception as error:  # noqa: BLE001 - as above
        return str(error) or type(error).__name__
    return ""


def _entries(archive: Path, name: str, limit: int, budget: Budget) -> Iterator[_Entry]:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in MAIL_SUFFIXES:
        return (_Entry(part, len(data), partial(BytesIO, data)) for part, data in mail_parts(archive))
    if suffix in OFFICE_SUFFIXES:
        text = office.text_of(archive)
        return iter([_Entry(office.name_of(text), len(text), partial(BytesIO, text))])
    return _zip_entries(archive) if suffix == ".zip" else _tar_entries(archive, limit, budget)


def _tar_entries(archive: Path, limit: int, budget: Budget) -> Iterator[_Entry]:
    with (
        archive.open("rb") as packed,
        tarfile.open(fileobj=_decompressed(packed, limit, budget), mode="r|", tarinfo=_StrictHeader) as tar,
    ):
        while member := tar.next():
            tar.members.clear()  # type: ignore[attr-defined] # kept by Python, with all extended attributes
            if not member.isdir():
                size = member.size if member.isreg() else -1
                yield _Entry(member.name, size, partial(_open_tar_member, tar, member))
        _check_end(tar)


def _zip_entries(archive: Path) -> Iterator[_Entry]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            if not info.filename.endswith("/"):
                is_link = stat.S_ISLNK(info.external_attr >> 16)
                yield _Entry(info.filename, -1 if is_link else info.file_size, partial(packed.open, info))
        before = min((info.header_offset for info in packed.infolist()), default=0)
        if before:
            raise OSError(f"its list of files leaves out its first {before} bytes")


class _StrictHeader(tarfile.TarInfo):
    """A member's header that raises if it is damaged, missing or too large; tarfile's own does not."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):  # the end-of-archive marker
                raise
            what = f"a damaged header: {error}" if buf else "the archive is cut short"
            raise tarfile.ReadError(what) from error
        if header.type in _EXTENDED_HEADERS and header.size > _MAX_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {header.size} bytes")
        return header


def _check_end(tar: tarfile.TarFile) -> None:
    """Raise OSError if anything but zeros follows the end-of-archive marker."""
    read = cast(IO[bytes], tar.fileobj).read
    for _ in range(_MAX_PADDING_STEPS):
        block = read(_PADDING_STEP)
        if not block:
            return
        if block.count(0) < len(block):
            raise OSError("there is more behind its end, as of a second archive")


def _open_tar_member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(member)
    if file is None:
        raise OSError("no regular file")
    return file


class _ArchiveReader(ChunkReader):
    def read(self, size: int) -> bytes:
        try:
            return super().read(size)
        except OSError as error:
            raise OSError(f"the archive {error}") from error


def _decompressed(packed: IO[bytes], limit: int, budget: Budget) -> IO[bytes]:
    """Return the contents of a file as a stream, decompressed if its first bytes show a compression."""
    head = packed.read(8)
    packed.seek(0)
    if not is_compressed(head):
        return packed
    return cast(IO[bytes], _ArchiveReader(_limited(decompress_members(packed), limit, budget)))


def _limited(chunks: Iterator[bytes], limit: int, budget: Budget) -> Iterator[bytes]:
    """Yield the chunks up to a limit on their total size.

    Raises:
        OSError: they hold more bytes than the limit and a megabyte for headers, or the budget is spent.
    """
    left = limit + (1 << 20)
    for chunk in chunks:
        budget.spend()
        left -= len(chunk)
        if left < 0:
            raise OSError(f"unpacks to more than {limit} bytes; the rest is left out")
        yield chunk
