"""Whole runs in one file, as people and macOS pack them, and as disks damage them."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.storage import archives
from tests.storage.test_decompress import PACK

Make = Callable[[Path, dict[str, bytes]], Path]
LOG = b"".join(b"step %d loss 0.%06d\n" % (step, step * step % 999_983) for step in range(5_000))


def sources(archive: Path) -> dict[str, str]:
    """Name of each source, and why it is left out."""
    return {source.name: source.skip for source in discover([archive]).sources}


def tar(archive: Path, files: dict[str, bytes]) -> Path:
    """A tar archive of some files."""
    with tarfile.open(archive, "w") as packed:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return archive


def zipped(archive: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip archive of some files."""
    with zipfile.ZipFile(archive, "w", method) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return archive


HIDDEN = {
    "__MACOSX/run/._worker-0.log": b"\x00\x05\x16\x07",
    "run/.git/worker-1.log": b"x",
    "run/.worker-2.log.swp": b"x",
    "./worker-0.log": LOG,
}


@pytest.mark.parametrize("make", [tar, zipped])
def test_what_a_directory_would_hide_is_left_out(make: Make, tmp_path: Path) -> None:
    """It is no part of the run."""
    assert sources(make(tmp_path / f"run.{'tar' if make is tar else 'zip'}", HIDDEN)) == {"worker-0.log": ""}


@pytest.mark.parametrize("make", [tar, zipped])
def test_a_name_that_no_disk_takes_is_read(make: Make, tmp_path: Path) -> None:
    """Names are for the report; on the disk a member has a number."""
    files = {f"{'x' * 300}.log": LOG, "worker-0.log": LOG}
    archive = make(tmp_path / f"run.{'tar' if make is tar else 'zip'}", files)
    run = discover([archive])
    assert [source.path.read_bytes() == LOG for source in run.sources] == [True, True]


def test_a_member_that_is_encrypted_costs_itself_alone(tmp_path: Path) -> None:
    """The others are read."""
    archive = zipped(tmp_path / "run.zip", {"worker-0.log": LOG, "worker-1.log": LOG})
    data = bytearray(archive.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    found = sources(archive)
    assert "encrypted" in found["worker-0.log"]
    assert found["worker-1.log"] == ""


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_member_that_is_damaged_costs_itself_alone(method: int, tmp_path: Path) -> None:
    """Whatever it was packed with; what stands before the damage is read, and the damage said."""
    archive = zipped(tmp_path / "run.zip", {"worker-0.log": LOG, "worker-1.log": LOG}, method)
    data = bytearray(archive.read_bytes())
    half = data.index(b"worker-1.log") // 2
    data[half : half + 200] = b"\xff" * 200
    archive.write_bytes(data)
    found = sources(archive)
    assert found["worker-1.log"] == ""
    assert any("worker-0.log breaks off" in reason for reason in found.values()) or found["worker-0.log"]


def test_a_damaged_xz_gives_what_stands_before(tmp_path: Path) -> None:
    """The stream has one break for all members."""
    plain = tar(tmp_path / "plain", {"worker-0.log": LOG, "worker-1.log": LOG}).read_bytes()
    data = bytearray(lzma.compress(plain, preset=0))
    data[len(data) * 3 // 4 :] = b"\xff" * (len(data) - len(data) * 3 // 4)
    archive = tmp_path / "run.tar.xz"
    archive.write_bytes(data)
    found = sources(archive)
    assert found["worker-0.log"] == ""
    assert "run.tar.xz" in found


def test_archives_in_an_archive_are_opened_one_level_deep(tmp_path: Path) -> None:
    """As a CI server zips a tar; the person is told to unpack what lies deeper."""
    inmost = zipped(tmp_path / "more.zip", {"worker-9.log": LOG})
    inner = tar(tmp_path / "node-1.tar", {"train.log": LOG, "more.zip": inmost.read_bytes()})
    files = {"worker-0.log": LOG, "node-1.tar": inner.read_bytes(), "bad.zip": b"PK"}
    found = sources(zipped(tmp_path / "run.zip", files))
    assert found.pop("node-1.tar/more.zip").startswith("an archive that lies two archives deep")
    assert found.pop("bad.zip").startswith("damaged: ")
    assert found == {"worker-0.log": "", "node-1.tar/train.log": ""}


def test_archives_in_an_archive_share_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Archives of archives would else multiply them."""
    log = b"step 1 loss 0.5\n" * 1_000
    monkeypatch.setattr(archives, "unpacked_limit", lambda _packed: 3 * len(log))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 6)
    inner = zipped(tmp_path / "inner.zip", {f"{n}.log": log for n in range(3)}).read_bytes()
    found = sources(zipped(tmp_path / "run.zip", {"a.zip": inner, "b.zip": inner, "c.zip": inner}))
    read = [name for name, skip in found.items() if not skip]
    assert read == ["a.zip/0.log", "a.zip/1.log"]
    assert "unpacks to more than" in found["a.zip/2.log"]
    assert "holds more than 6 files" in found["b.zip/0.log"]


ENDS: dict[str, Callable[[bytes, int], bytes]] = {
    "a damaged header": lambda data, header: data[:header] + b"\xff" + data[header + 1 :],
    "cut in a header": lambda data, header: data[: header + 100],
    "cut between two members": lambda data, header: data[:header],
    "cut in the middle of a member": lambda data, header: data[: header + 2_000],
    "another archive behind it": lambda data, header: data[:header] + bytes(10_240) + data[header:],
}


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("end", ENDS)
def test_a_tar_that_ends_too_early_is_said(end: str, suffix: str, tmp_path: Path) -> None:
    """Python takes whatever is no header for the end; what stands before it is read."""
    whole = tar(tmp_path / "plain", {"worker-0.log": LOG, "worker-1.log": LOG}).read_bytes()
    archive = tmp_path / f"run.tar{suffix}"
    damaged = ENDS[end](whole, whole.index(b"worker-1.log"))
    archive.write_bytes(PACK[suffix[1:]](damaged) if suffix else damaged)
    run = discover([archive])
    assert [source.path.read_bytes() for source in run.sources if source.name == "worker-0.log"] == [LOG]
    assert any(source.name == archive.name and source.skip for source in run.sources)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_a_compressed_tar_is_read_to_its_last_byte(suffix: str, tmp_path: Path) -> None:
    """Its checksum stands behind all members; so does what was cut off."""
    data = PACK[suffix](tar(tmp_path / "plain", {"worker-0.log": LOG}).read_bytes())
    archive = tmp_path / f"run.tar.{suffix}"
    archive.write_bytes(data + bytes(1_000))
    assert sources(archive) == {"worker-0.log": ""}
    for damaged in (data[:-1], data + b"rubbish"):
        archive.write_bytes(damaged)
        found = sources(archive)
        assert found["worker-0.log"] == ""
        assert re.match("damaged: the archive (is|holds) .*compressed", found[archive.name])


def test_a_small_archive_that_breaks_off_gives_what_stands_before(tmp_path: Path) -> None:
    """However little is read at once."""
    files = {f"worker-{n}.log": LOG[n * 2_000 : (n + 1) * 2_000] for n in range(9)}
    data = PACK["gz"](tar(tmp_path / "plain", files).read_bytes())
    archive = tmp_path / "run.tar.gz"
    archive.write_bytes(data[: len(data) // 2])
    found = sources(archive)
    assert (found["worker-0.log"], found["worker-1.log"]) == ("", "")


def test_a_zip_behind_another_is_said(tmp_path: Path) -> None:
    """Its list names only its own members."""
    first, second = (zipped(tmp_path / name, {f"{name}.log": LOG}).read_bytes() for name in ("a", "b"))
    archive = tmp_path / "run.zip"
    archive.write_bytes(first + second)
    found = sources(archive)
    assert found["b.log"] == ""
    assert f"leaves out its first {len(first)} bytes" in found["run.zip"]


def test_a_member_without_a_name_costs_nothing(tmp_path: Path) -> None:
    """Python itself stumbles over it."""
    archive = zipped(tmp_path / "run.zip", {"worker-0.log": LOG, "x": LOG})
    data = archive.read_bytes()
    name = data.rindex(b"PK\x01\x02")
    archive.write_bytes(data[: name + 28] + b"\0\0\1\0" + data[name + 32 :])
    assert sources(archive)["worker-0.log"] == ""


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_a_long_header_is_damage(form: int, tmp_path: Path) -> None:
    """600 kB of archive can hold a name of a gigabyte, which Python's tarfile would hold in memory."""
    archive = tmp_path / "job.tar.gz"
    with tarfile.open(archive, "w:gz", format=form) as packed:
        for name in ("worker-0.log", "x/" * (1 << 20) + "worker-1.log"):
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            packed.addfile(info, io.BytesIO(LOG))
    found = sources(archive)
    assert found["worker-0.log"] == ""
    assert "a header of 2097" in found["job.tar.gz"]


@pytest.mark.slow
def test_what_lies_behind_the_budget_is_not_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member of 20 GB of zeros is a megabyte of bz2, and minutes of work."""
    monkeypatch.setattr(archives, "unpacked_limit", lambda _packed: 1 << 20)
    whole = tar(tmp_path / "whole.tar", {"worker-0.log": LOG, "zeros": bytes(80 << 20), "worker-1.log": LOG})
    archive = tmp_path / "job.tar.bz2"
    archive.write_bytes(bz2.compress(whole.read_bytes()))
    found = sources(archive)
    assert found["worker-0.log"] == ""
    assert "unpacks to more than" in found["zeros"]
    assert "the rest is left out" in found["job.tar.bz2"]
