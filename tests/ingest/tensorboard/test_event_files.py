"""Event files: every scalar as TensorBoard reads it, and no lost byte without damage."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import google_crc32c
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.ingest.tensorboard import event_files
from analyzer.ingest.tensorboard.event_files import EventFile, read_scalars
from analyzer.ingest.tensorboard.event_scalars import Scalar
from analyzer.model.budget import Budget
from benchmarks.inputs import write_events

FIXTURES = Path(__file__).parents[2] / "fixtures_binary"
FILES = ("v1.tfevents", "v2.tfevents")
BFLOAT16 = 14
"""TensorBoard 2.21 fails on this type where TensorFlow is not imported."""
SLOWLY = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def peer(path: Path) -> list[tuple[str, int, float, bytes]]:
    """The scalars as TensorBoard's own reader gives them, values as the bytes of a double."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    reader = EventAccumulator(str(path), {"scalars": 0, "tensors": 0}, purge_orphaned_data=False)
    reader.Reload()
    rows: list[tuple[str, int, float, Any]] = []
    for tag in reader.Tags()["scalars"]:
        rows += [(tag, e.step, e.wall_time, e.value) for e in reader.Scalars(tag)]
    for tag in reader.Tags()["tensors"]:
        for e in reader.Tensors(tag):
            if e.tensor_proto.dtype == BFLOAT16:
                continue
            array = tensor_util.make_ndarray(e.tensor_proto)
            if array.ndim == 0 and array.dtype != object:
                rows.append((tag, e.step, e.wall_time, array.item()))
    return sorted((tag, step, time, struct.pack("<d", float(value))) for tag, step, time, value in rows)


def comparable(rows: list[Scalar]) -> list[tuple[str, int, float, bytes]]:
    """Rows whose NaNs are equal to themselves."""
    return [(tag, step, time, struct.pack("<d", value)) for tag, step, time, value in rows]


def mask(check: int) -> int:
    """The checksum as TFRecord writes it."""
    return ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(payload: bytes) -> bytes:
    """A payload as a record."""
    head = struct.pack("<Q", len(payload))
    sums = [struct.pack("<I", mask(google_crc32c.value(part))) for part in (head, payload)]
    return head + sums[0] + payload + sums[1]


def boundaries(data: bytes) -> list[int]:
    """The offsets at which records begin, and the end."""
    found = [0]
    while found[-1] < len(data):
        found.append(found[-1] + 16 + struct.unpack_from("<Q", data, found[-1])[0])
    return found


def read(folder: Path, data: bytes) -> EventFile:
    """The scalars of these bytes."""
    path = folder / "events.out.tfevents.1.x"
    path.write_bytes(data)
    return read_scalars(path, Budget())


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_agrees_with_tensorboard(name: str) -> None:
    """Tags, steps, times and values are bit for bit what EventAccumulator gives."""
    found = read_scalars(FIXTURES / name, Budget())
    assert found.damage == []
    ours = [row for row in found.scalars if row[0] != "dtype/bfloat16"]
    assert sorted(comparable(ours)) == peer(FIXTURES / name)
    assert len(found.scalars) > 200


def test_order_of_the_file_is_kept() -> None:
    """Rows stand in the order in which they were written."""
    rows = [
        row for row in read_scalars(FIXTURES / "v2.tfevents", Budget()).scalars if row[0].startswith("train/")
    ]
    assert [row[1] for row in rows] == [step for step in range(200) for _ in "ab"]


def test_every_type_of_number_is_read() -> None:
    """A scalar of each type, 1 by construction; the vector is none."""
    rows = [
        row for row in read_scalars(FIXTURES / "v2.tfevents", Budget()).scalars if row[0].startswith("dtype/")
    ]
    assert len(rows) == 13
    assert {row[3] for row in rows} == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_cut_anywhere(name: str, tmp_path: Path) -> None:
    """A cut keeps all before it and is damage at the last record, unless it falls between two."""
    data = (FIXTURES / name).read_bytes()
    whole, ends = comparable(read_scalars(FIXTURES / name, Budget()).scalars), boundaries(data)
    for cut in [*range(600), *range(600, len(data), 37)]:
        found = read(tmp_path, data[:cut])
        rows = comparable(found.scalars)
        assert rows == whole[: len(rows)]
        if cut and cut in ends:
            assert found.damage == []
            continue
        start = max(end for end in ends if end <= cut)
        (damage,) = found.damage
        assert (damage.offset, damage.length) == (start, cut - start)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@SLOWLY
@given(draw=st.data())
def test_flipped_bits(name: str, draw: st.DataObject, tmp_path: Path) -> None:
    """Any flipped bit is damage, and nothing is read that was not written."""
    data = bytearray((FIXTURES / name).read_bytes())
    whole = comparable(read_scalars(FIXTURES / name, Budget()).scalars)
    ends = boundaries(bytes(data))
    places = draw.draw(st.lists(st.integers(0, len(data) * 8 - 1), min_size=1, max_size=5, unique=True))
    for place in places:
        data[place // 8] ^= 1 << place % 8
    found = read(tmp_path, bytes(data))
    rows = comparable(found.scalars)
    assert found.damage
    assert set(rows) <= set(whole)
    hit = max(end for end in ends if end <= min(places) // 8)
    before = comparable(read(tmp_path, bytes(data[:hit])).scalars)
    assert rows[: len(before)] == before


@SLOWLY
@given(data=st.binary(max_size=400), lead=st.sampled_from([0, 24, 40]))
def test_any_bytes(data: bytes, lead: int, tmp_path: Path) -> None:
    """Bytes of any kind give damage, and no scalar."""
    start = (FIXTURES / "v1.tfevents").read_bytes()[:lead]
    found = read(tmp_path, start + data)
    assert found.scalars == []
    assert found.damage or (lead == 40 and not data)


def test_records_behind_a_hole_are_found(tmp_path: Path) -> None:
    """Zeros in the middle, as a crashed file system leaves them, cost only what they cover."""
    data = (FIXTURES / "v1.tfevents").read_bytes()
    ends = boundaries(data)
    first, last = ends[40], ends[60]
    found = read(tmp_path, data[:first] + bytes(last - first) + data[last:])
    assert [(d.offset, d.length) for d in found.damage] == [(first, last - first)]
    whole = {row[:2] for row in read_scalars(FIXTURES / "v1.tfevents", Budget()).scalars}
    assert len(whole) - len(found.scalars) in range(20, 45)


def test_a_large_record_is_checked_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger than any scalar: not held, and its checksum holds all the same."""
    monkeypatch.setattr(event_files, "MAX_RECORD_BYTES", 100_000)
    start = (FIXTURES / "v1.tfevents").read_bytes()
    large = framed(b"\t" + bytes(8) + b"\x22" + bytes([0x80, 0x89, 0x7A]) + bytes(2_000_000))
    found = read(tmp_path, start + large + start[boundaries(start)[1] :])
    assert found.damage == []
    assert len(found.scalars) == 2 * len(read_scalars(FIXTURES / "v1.tfevents", Budget()).scalars)
    bad = bytearray(large)
    bad[1_000_000] ^= 4
    found = read(tmp_path, start + bytes(bad))
    assert [(d.offset, d.length) for d in found.damage] == [(len(start), len(large))]


def test_a_length_is_not_trusted(tmp_path: Path) -> None:
    """A length of exabytes whose checksum holds allocates nothing."""
    start = (FIXTURES / "v1.tfevents").read_bytes()
    head = struct.pack("<Q", 1 << 62)
    found = read(tmp_path, start + head + struct.pack("<I", mask(google_crc32c.value(head))) + b"abc")
    assert [(d.offset, d.length) for d in found.damage] == [(len(start), 15)]


@pytest.mark.parametrize("data", [b"", b"hello", b"not an event file\n" * 50_000, framed(b"\x0a\x03abc")])
def test_foreign_files_are_said(data: bytes, tmp_path: Path) -> None:
    """An empty file and files of other kinds are damage, whole."""
    (damage,) = read(tmp_path, data).damage
    assert (damage.offset, damage.length) == (0, len(data))
    assert "empty" in damage.what or "not a TensorBoard event file" in damage.what


def test_the_records_of_a_large_file_are_read_as_those_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a table, whatever is wrong with some of them."""
    chance = random.Random(1)
    for mixed in (False, True):
        write_events(tmp_path / f"{mixed}", 3_000, mixed=mixed)
        sound = (tmp_path / f"{mixed}").read_bytes()
        for flaws in (0, 1, 5, 40):
            data = bytearray(sound)
            for _ in range(flaws):
                data[chance.randrange(len(data))] = chance.randrange(256)
            monkeypatch.setattr(event_files, "TABLE_FILE_BYTES", 1 << 60)
            one_by_one = read(tmp_path, bytes(data))
            monkeypatch.setattr(event_files, "TABLE_FILE_BYTES", 0)
            assert repr(read(tmp_path, bytes(data))) == repr(one_by_one)
            assert flaws or len(one_by_one.scalars) == 3_000
