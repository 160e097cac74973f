"""Event files: every record carries checksums, so that nothing that was lost can be missed."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import google_crc32c
from google.protobuf.message import DecodeError

from analyzer.ingest.tensorboard.event_pb2 import Event
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.fuzz.mutators import MUTATORS as WAYS
from tests.fuzz.mutators import Mutator
from tests.fuzz.oracles import PACKED, damaged
from tests.fuzz.target import Case, Seed, real, sound

FIXTURES = Path(__file__).parents[2] / "fixtures_binary"

Row = tuple[str, int, str]


def seeds() -> Iterable[Seed]:
    """Those of the sample runs, and one with every type of number."""
    yield from real(Kind.EVENT_FILE, most=16)
    for path in sorted(FIXTURES.glob("*.tfevents")):
        yield Seed(path.name, path.read_bytes())


class Model(NamedTuple):
    """What the plainest of readers makes of a file: its records up to the first fault."""

    rows: list[Row]
    sound: bool


def model(data: bytes) -> Model:
    """Walk the records by the letter, none of them learnt from another."""
    at, rows = 0, list[Row]()
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at) if at + 12 <= len(data) else (len(data),)
        payload, end = data[at + 12 : at + 12 + length], at + 16 + length
        if end > len(data) or data[at:end] != framed(payload):
            return Model(rows, sound=False)
        try:
            event = Event.FromString(payload)
        except DecodeError:
            return Model(rows, sound=False)
        rows += [
            (value.tag.decode(errors="replace"), event.step, repr(float(value.simple_value)))
            for value in _simple(event)
        ]
        at = end
    return Model(rows, sound=bool(data) and _names_its_version(data))


def framed(payload: bytes) -> bytes:
    """A payload as a record."""
    length = struct.pack("<Q", len(payload))
    return length + _masked(length) + payload + _masked(payload)


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What is not sound is damage, what is sound is none, and what stands before it is kept."""
    if case.data.startswith(PACKED):
        return
    expected = model(case.data)
    if expected.sound == damaged(tables):
        yield "is called damaged, and is not" if expected.sound else "is damaged, and called whole"
    scalars = tables["scalars"]
    if case.is_cut:
        before = sound(case.seed)["scalars"].rows()[: scalars.height]
        if list(map(repr, scalars.rows())) != list(map(repr, before)):
            yield "the scalars before the cut are not those of the whole file"
    found = iter(
        [(tag, step, repr(value)) for tag, step, value in scalars.select("tag", "step", "value").rows()]
    )
    if missing := next((row for row in expected.rows if row not in found), None):
        yield f"a scalar before the damage is lost: {missing}"


def _forged(way: Mutator, data: bytes, random: Random, other: bytes) -> bytes:
    """Change a record and let its checksums hold: what is wrong is left to the message's own reader."""
    records = list(_payloads(data))
    if not records:
        return way(data, random, other)
    start, payload = random.choice(records)
    return data[:start] + framed(way(payload, random, other)) + data[start + 16 + len(payload) :]


MUTATORS = {
    f"forged {name}": partial(_forged, WAYS[name]) for name in ("flip", "overwrite", "hostile", "cut")
}


def _payloads(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        if at + 16 + length > len(data):
            return
        yield at, data[at + 12 : at + 12 + length]
        at += 16 + length


def _simple(event: Event) -> Iterator[Event]:
    yield from (value for value in event.summary.value if value.WhichOneof("value") == "simple_value")


def _names_its_version(data: bytes) -> bool:
    _, first = next(_payloads(data))
    return bool(Event.FromString(first).file_version.startswith(b"brain.Event"))


def _masked(data: bytes) -> bytes:
    check = google_crc32c.value(data)
    return struct.pack("<I", ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF)
