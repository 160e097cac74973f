"""Compressed files: what Python's own libraries cannot unpack is damage, and what stands before is kept."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import zstandard

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.fuzz.oracles import PACKED, damaged, flaw
from tests.fuzz.target import Case, Seed, real, sound
from tests.fuzz.targets import event_reader, trace_reader

PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
UNPACK: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
    "xz": lzma.decompress,
    "zst": lambda data: b"".join(_frames(data)),
}


def _frames(data: bytes) -> Iterator[bytes]:
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        yield frame.decompress(data)
        if not frame.eof:
            raise EOFError
        data = frame.unused_data


def seeds() -> Iterable[Seed]:
    """Small files of each kind, in each format."""
    plain = [
        *real(Kind.LOG, most=4, largest=12_000),
        *real(Kind.TF_CONFIG, most=1),
        *real(Kind.EXIT_CODES, most=1),
        *list(event_reader.seeds())[-2:-1],
        next(iter(trace_reader.seeds())),
    ]
    for suffix, pack in PACK.items():
        yield from (Seed(f"{seed.name}.{suffix}", pack(seed.data)) for seed in plain)


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """Other contents than were packed are damage; what is read of a cut file stands in the whole one."""
    suffix = case.seed.name.rpartition(".")[2]
    is_text = case.data and not case.data.startswith(PACKED) and not flaw(case.data)
    if not damaged(tables) and not is_text and unpacked(suffix, case.data) is None:
        yield "cannot be unpacked, and is called whole"
    if case.is_cut:
        whole = {row[:-1] for row in _rows(sound(case.seed))}
        found = _rows(tables)
        last = max((row[-1] or 0 for row in found), default=0)
        if extra := [row for row in found if row[:-1] not in whole and row[-1] not in {last, None}]:
            yield f"a scalar that the whole file does not hold: {extra[0]}"


def unpacked(suffix: str, data: bytes) -> bytes | None:
    """The contents, which the checksums of all four formats vouch for; zeros may fill up their end."""
    for whole in (data, data.rstrip(b"\0")):
        with suppress(Exception):  # each of the four libraries has errors of its own
            return UNPACK[suffix](whole)
    return None


def _rows(tables: Tables) -> list[tuple[Any, ...]]:
    scalars = tables["scalars"].select("tag", "epoch", "step", "value", "line").rows()
    return [(*map(repr, row[:-1]), row[-1]) for row in scalars]
