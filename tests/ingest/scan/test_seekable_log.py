"""Whoever looks through a part of a log finds the blocks that all others find there."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest

from analyzer.ingest.scan.blocks import BLOCK_BYTES, MAX_BLOCK_BYTES
from analyzer.ingest.scan.seekable_log import SeekableLog, open_seekable

MARK = b"\xef\xbb\xbf"


def text(seed: int) -> bytes:
    """Lines of all lengths, some longer than any block, in letters of one to three bytes."""
    chance = random.Random(seed)
    pieces, size = [], 0
    while size < 9 << 20:
        longest = chance.choice([1, 100, 100, 20_000, 700_000, 3_000_000])
        letters = chance.choice(["x", "ß", "…"]) * chance.randrange(longest)
        pieces.append((letters + chance.choice(["\n", "\n", "\r\n", ""])).encode())
        size += len(pieces[-1])
    return b"".join(pieces)


def blocks(log: SeekableLog, start: int, end: int) -> list[tuple[int, bytes]]:
    """The blocks that begin between two places, and where."""
    buffer = bytearray()
    return [(offset, bytes(buffer)) for offset in log.blocks(start, end, buffer)]


@pytest.mark.parametrize("mark", [b"", MARK], ids=["plain", "mark"])
@pytest.mark.parametrize("seed", range(6))
def test_parts_have_the_blocks_of_the_whole(seed: int, mark: bytes, tmp_path: Path) -> None:
    """All bytes once; each block ends with a line, or where a line that is too long is cut between signs."""
    data, path = text(seed), tmp_path / "worker-0.log"
    path.write_bytes(mark + data)
    with open_seekable(path) as log:
        assert log
        assert (log.size, log.file_size) == (len(data), len(mark + data))
        whole = blocks(log, 0, log.size)
    assert b"".join(block for _, block in whole) == data
    for (offset, block), (following, _) in pairwise(whole):
        assert offset + len(block) == following
        assert len(block) <= MAX_BLOCK_BYTES
        if not block.endswith(b"\n"):
            assert b"\n" not in data[following : following + BLOCK_BYTES]
            block.decode()
    step = random.Random(seed).randrange(1, 5) * BLOCK_BYTES
    parts: list[list[tuple[int, bytes]]] = []
    for start in reversed(range(0, len(data), step)):
        with open_seekable(path) as log:
            assert log
            parts.insert(0, blocks(log, start, min(start + step, log.file_size)))
    assert [block for part in parts for block in part] == whole


@pytest.mark.parametrize("place", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1])
def test_any_offset_can_be_read(place: int, tmp_path: Path) -> None:
    """Of places before the beginning and behind the end, what lies between them."""
    path, data = tmp_path / "worker-0.log", text(9)[: BLOCK_BYTES + 5]
    path.write_bytes(MARK + data)
    with open_seekable(path) as log:
        assert log
        assert log.read(place - 3, place + 3) == data[max(0, place - 3) : place + 3]
        assert log.read(place, place) == b""


def test_a_file_that_is_cut_meanwhile_gives_what_is_left(tmp_path: Path) -> None:
    """And one that grows is read as far as it reached; either is said."""
    path, data = tmp_path / "worker-0.log", b"step 1 loss 0.5\n" * 200_000
    path.write_bytes(data)
    with open_seekable(path) as log:
        assert log
        assert not log.damage()
        with path.open("ab") as file:
            file.write(b"more\n")
        assert b"".join(block for _, block in blocks(log, 0, log.size)) == data
        assert log.damage() == f"was still being written; read as far as it reached, {len(data)} bytes"
        with path.open("r+b") as file:
            file.truncate(1_000_000)
        assert b"".join(block for _, block in blocks(log, 0, log.size)) == data[:1_000_000]
        assert blocks(log, 4 * BLOCK_BYTES, log.size) == []
        assert log.damage() == "was cut to 1000000 bytes while it was read"


def test_only_what_has_all_its_bytes_there_is_read_at_any_place(tmp_path: Path) -> None:
    """Neither a compressed log nor one of another encoding."""
    packed, wide = tmp_path / "worker-0.log", tmp_path / "worker-1.log"
    packed.write_bytes(gzip.compress(b"step 1\n"))
    wide.write_bytes("step 1\n".encode("utf-16"))
    for path in (packed, wide):
        with open_seekable(path) as log:
            assert log is None
