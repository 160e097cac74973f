"""Archives: what cannot be taken out of them is said, and so is an end that is missing."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from random import Random

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import printable
from tests.fuzz.mutators import flip, hostile, number, overwrite
from tests.fuzz.oracles import damaged
from tests.fuzz.target import Case, Seed, real
from tests.fuzz.targets.decompress import PACK, unpacked

BLOCK = tarfile.BLOCKSIZE


def seeds() -> Iterable[Seed]:
    """Small runs, as zip and as tar, by every compression."""
    logs, configs = real(Kind.LOG, most=12, largest=4_000), real(Kind.TF_CONFIG, most=4)
    for n in range(0, 12, 3):
        files = {f"job/logs/worker-{i}.log": log.data for i, log in enumerate(logs[n : n + 3])}
        files["job/tf_config-0.json"] = configs[n // 3].data
        files["job/.hidden"] = b"for some program"
        yield Seed("run.zip", zipped(files, zipfile.ZIP_DEFLATED))
        yield Seed("run.zip", zipped(files, zipfile.ZIP_STORED))
        plain = tarred(files)
        yield Seed("run.tar", plain)
        yield from (Seed(f"run.tar.{suffix}", pack(plain)) for suffix, pack in PACK.items())


def zipped(files: Mapping[str, bytes], method: int) -> bytes:
    """Some files as a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    """Some files as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What cannot be taken out by the letter is said; what can is there under its name."""
    if damaged(tables):
        return
    try:
        names = _members(case.seed.name, case.data)
    except Exception as error:  # noqa: BLE001 - libraries fail in many ways, and each is damage
        yield f"cannot be taken apart ({type(error).__name__}: {error}), and is called whole"
        return
    seen = set(map(printable, filter(_is_seen, names)))
    if missing := seen - set(tables["sources"]["source"].to_list()):
        yield f"{min(missing)!r} is in it, and is passed over"
    if case.seed.name.endswith(".zip") and (gone := set(filter(_is_seen, _zip(case.seed.data))) - set(names)):
        yield f"{min(gone)!r} is lost, and it is called whole"


def _is_seen(name: str) -> bool:
    """Whether a directory would show it."""
    return not any(part.startswith(".") for part in PurePosixPath(name).parts)


def _members(name: str, data: bytes) -> list[str]:
    """The names of all regular files; whatever is not right raises."""
    suffix = name.rpartition(".")[2]
    if suffix == "zip":
        return _zip(data)
    plain = data if suffix == "tar" else unpacked(suffix, data)
    if plain is None:
        raise ValueError("it cannot be unpacked")
    return list(_tar(plain))


def _zip(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [info.filename for info in archive.infolist() if not info.filename.endswith("/")]
        for name in filter(_is_seen, names):
            archive.read(name)
        return names


def _tar(data: bytes) -> Iterator[str]:
    at = 0
    while any(block := data[at : at + BLOCK]):
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        at += BLOCK + -(-info.size // BLOCK) * BLOCK
        if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not info.name.endswith("/"):
            yield info.name
    if len(block) < BLOCK or any(data[at:]):
        raise ValueError("it has no end, or there is more behind it")


def forged(data: bytes, random: Random, other: bytes) -> bytes:
    """Change the header of a member of a plain tar and let its checksum hold."""
    starts = [at for at in range(0, len(data), BLOCK) if data[at + 257 : at + 262] == b"ustar"]
    if not starts:
        return flip(data, random, other)
    at = random.choice(starts)
    header = random.choice((flip, overwrite, hostile, number))(data[at : at + BLOCK], random, other)
    header = header.ljust(BLOCK, b"\0")[:BLOCK]
    check = 256 + sum(header[:148]) + sum(header[156:])
    return data[:at] + header[:148] + b"%06o\0 " % check + header[156:] + data[at + BLOCK :]


MUTATORS = {"forged": forged}
