"""Compressed files of every kind: whole, cut short, damaged, and made to fill a memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import zstandard

from analyzer.discover import discover
from analyzer.ingest.scan.line_selection import Sampling
from analyzer.model.budget import Budget
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from analyzer.storage import decompress
from analyzer.storage.decompress import read_whole
from tests.ingest.test_hostile import event_file, trace
from tests.recordings import ROOT
from tests.rules import our_rules

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": cache(gzip.compress),
    "bz2": cache(bz2.compress),
    "xz": cache(lambda data: lzma.compress(data, preset=0)),
    "zst": cache(zstandard.ZstdCompressor(write_checksum=True).compress),
}
LOG = (ROOT / "sample_runs" / "worker-exception" / "run" / "worker-0.log").read_bytes()
MUCH = b"".join(b"%06d\n" % (number * number % 999_983) for number in range(300_000))

formats = pytest.mark.parametrize("pack", PACK.values(), ids=PACK)


def tables(folder: Path) -> Tables:
    """The tables of a directory."""
    return load_tables(discover([folder]), our_rules())


@formats
def test_members_one_behind_the_other_are_read_as_one(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A rotated log is often appended to a compressed one; tapes fill up with zeros."""
    path = tmp_path / "log"
    path.write_bytes(pack(LOG) + pack(MUCH) + b"\0" * 512)
    assert read_whole(path, Budget()) == (LOG + MUCH, "")


@formats
def test_contents_that_are_compressed_are_decompressed(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """A web server may compress a file again that it has compressed; what is cut short is said."""
    path = tmp_path / "log"
    path.write_bytes(PACK["gz"](pack(MUCH)))
    assert read_whole(path, Budget()) == (MUCH, "")
    path.write_bytes(PACK["gz"](pack(MUCH)[:-20]))
    data, damage = read_whole(path, Budget())
    assert damage == "is compressed, and cut short"
    assert MUCH.startswith(data)


@formats
def test_what_stands_before_the_break_is_kept(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A file that was being copied when the node went away."""
    path, whole = tmp_path / "log", pack(MUCH)
    path.write_bytes(whole[: len(whole) * 4 // 5])
    data, damage = read_whole(path, Budget())
    assert damage == "is compressed, and cut short"
    assert len(data) > len(MUCH) // 5
    assert MUCH.startswith(data)


def test_what_stands_before_the_break_is_kept_if_it_is_compressed_twice(tmp_path: Path) -> None:
    """Also the last bytes before the break, which may be all that there is of a short log."""
    path, whole = tmp_path / "log", PACK["gz"](PACK["gz"](LOG))
    path.write_bytes(whole[: len(whole) // 3])
    data, damage = read_whole(path, Budget())
    assert damage == "is compressed, and cut short"
    assert len(data) > len(LOG) // 5
    assert LOG.startswith(data)


@pytest.mark.parametrize("length", [0, 1])
@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_is_cut_at_once_is_said(suffix: str, length: int, tmp_path: Path) -> None:
    """Its first bytes do not tell any more that it is compressed, but its name does."""
    path = tmp_path / f"worker-0.log.{suffix}"
    path.write_bytes(PACK[suffix](LOG)[:length])
    assert read_whole(path, Budget())[1] == "is compressed, and cut short"


@formats
def test_damage_in_the_middle_costs_what_follows(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A bad block of a disk."""
    path, whole = tmp_path / "log", bytearray(pack(LOG) + pack(MUCH))
    whole[-len(whole) // 3 :] = b"\xff" * (len(whole) // 3)
    path.write_bytes(whole)
    data, damage = read_whole(path, Budget())
    assert damage
    assert data.startswith(LOG)


@formats
def test_a_file_may_not_grow_without_end(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut at the limit, whatever it was packed with."""
    monkeypatch.setattr(decompress, "unpacked_limit", lambda _packed: 1 << 16)
    path = tmp_path / "log"
    path.write_bytes(pack(MUCH))
    data, damage = read_whole(path, Budget())
    assert (data, damage[:13]) == (MUCH[: 1 << 16], "unpacks to mo")


@pytest.mark.runs
@pytest.mark.parametrize(("steps", "least"), [(18_000, 10_000), (20_000, 4 * Sampling().edge // 30)])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_a_log_that_is_cut_is_read_in_part_and_said(
    pack: Callable[[bytes], bytes], steps: int, least: int, tmp_path: Path
) -> None:
    """Neither skipped nor called complete; a large one has its head and tail, two values a line."""
    much = b"".join(b"step %d loss 0.%06d\n" % (step, step * step % 999_983) for step in range(steps))
    whole = pack(much)
    (tmp_path / "worker-0.log.gz").write_bytes(whole[: len(whole) * 4 // 5])
    found = tables(tmp_path)
    (row,) = found["sources"].iter_rows(named=True)
    assert (row["read"], row["reason"]) == ("partial", "is compressed, and cut short")
    assert found["damage"]["what"].to_list() == ["is compressed, and cut short"]
    assert found["scalars"].height > least


@pytest.mark.runs
@formats
def test_what_is_no_log_may_be_compressed_too(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A whole directory is often compressed file by file."""
    files = {
        "tf_config-0.json": b'{"cluster": {"worker": ["h:1"]}, "task": {"type": "worker", "index": 0}}',
        "exit_codes.txt": b"worker-0 137\n",
        "events.out.tfevents.1.worker-0": event_file(1e9),
        "worker-0.xplane.pb": trace(7),
    }
    for name, data in files.items():
        (tmp_path / f"{name}.gz").write_bytes(pack(data))
    found = tables(tmp_path)
    facts = dict(found["facts"].select("key", "value").iter_rows())
    assert facts["cluster_spec"] == '{"worker": ["h:1"]}'
    assert facts["exit_code"] == "-9"
    assert found["scalars"]["value"].to_list() == [0.5]
    assert found["spans"]["step"].to_list() == [7]
    assert set(found["sources"]["read"].to_list()) == {"complete"}


@pytest.mark.slow
def test_a_few_bytes_never_expand_into_memory_at_once(tmp_path: Path) -> None:
    """Of bz2, 45 bytes can be 45 MB; the whole file would be held."""
    path = tmp_path / "log.bz2"
    path.write_bytes(bz2.compress(b"a" * 100_000_000))
    chunks = [len(chunk) for chunk in decompress.Chunks(path, Budget())]
    assert sum(chunks) == 100_000_000
    assert max(chunks) <= decompress.CHUNK_BYTES
