"""Reads all scalars of TensorBoard event files without TensorFlow or TensorBoard.

An event file is a chain of records: length (8 bytes), its checksum (4), an Event message, its checksum (4).
"""

import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import BinaryIO, NamedTuple

import google_crc32c
from google.protobuf.message import DecodeError

from analyzer.ingest.tensorboard.event_pb2 import Event
from analyzer.ingest.tensorboard.event_scalars import Scalar, event_scalars
from analyzer.ingest.tensorboard.record_tables import (
    FOOTER_BYTES,
    FRAME_BYTES,
    HEADER_BYTES,
    Columns,
    RecordTables,
    in_order,
    mask_checksum,
    masked_checksum,
    remaining_records,
)
from analyzer.ingest.tensorboard.resync import SEARCH_BYTES, find_record
from analyzer.ingest.tensorboard.thinning import MAX_SCALARS, kept_rows
from analyzer.model.budget import Budget, OverBudgetError

CHUNK_BYTES = 1 << 19
"""Bytes read at once."""
MAX_RECORD_BYTES = 2 << 20
"""Maximum size of a record with scalars; larger ones hold images, audio or graphs."""
TABLE_FILE_BYTES = 2 << 20
"""Minimum size of a file whose records are decoded as tables, which needs numpy."""

MAX_DAMAGE = 200
"""Number of unreadable parts of a file that are reported one by one."""
_SCATTERED = "many parts that could not be read"
_CUT_SHORT = "the file ends inside a record: cut short, or still being written"
_FOREIGN = "not a TensorBoard event file"


class Damage(NamedTuple):
    """A part of a file that could not be read; `offset` and `length` in bytes, None if unknown."""

    offset: int
    length: int | None
    what: str


@dataclass(slots=True)
class EventFile:
    """The scalars of one event file in file order, as four columns of one length, and its damage."""

    tags: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Wall times, in seconds since the epoch."""
    values: list[float] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    dropped: int = 0
    """Number of scalars of the file that are not in the columns."""

    @property
    def scalars(self) -> list[Scalar]:
        """The scalars as rows."""
        return list(zip(self.tags, self.steps, self.times, self.values, strict=True))

    def add(self, scalars: Iterable[Scalar]) -> None:
        """Append scalars."""
        for tag, step, time, value in scalars:
            self.tags.append(intern(tag))
            self.steps.append(step)
            self.times.append(time)
            self.values.append(value)

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all scalars but those with these numbers."""
        self.dropped += len(self.tags) - len(rows)
        self.tags = [self.tags[row] for row in rows]
        self.steps = [self.steps[row] for row in rows]
        self.times = [self.times[row] for row in rows]
        self.values = [self.values[row] for row in rows]

    def extend(self, columns: Columns) -> None:
        """Append columns."""
        self.tags.extend(columns.tags)
        self.steps.extend(columns.steps)
        self.times.extend(columns.times)
        self.values.extend(columns.values)


def read_scalars(path: Path, budget: Budget, limit: int = MAX_SCALARS) -> EventFile:
    """Read the scalars of an event file in file order, thinned only if there are more than `limit`.

    Both encodings are read: `simple_value`, and tensors of rank 0 of any real number type. Bad bytes become
    damage, never an exception; everything before them is kept, and reading resumes at the next record.
    Memory is that of `limit` scalars and of one record of at most `MAX_RECORD_BYTES`.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        reader = _Reader(file, os.fstat(file.fileno()).st_size, budget, limit)
        reader.run()
    return reader.found


class _Reader:
    """Reads one file; the next record begins at `buffer[pos]`, which is `base + pos` of the file."""

    def __init__(self, file: BinaryIO, size: int, budget: Budget, limit: int) -> None:
        self.file, self.size, self.budget, self.limit = file, size, budget, limit
        self.buffer, self.base, self.pos = b"", 0, 0
        self.found = EventFile()
        self.tables = RecordTables() if size >= TABLE_FILE_BYTES else None

    def run(self) -> None:
        if not self.size:
            self._add_damage(0, 0, "the file is empty")
        try:
            self._read_all()
        except OverBudgetError as spent:
            start = self.base + self.pos
            self._add_damage(start, self.size - start, str(spent))

    def _read_all(self) -> None:
        while self._has(1):
            if not (self.tables and self.base + self.pos and self._read_batch(self.tables)):
                self._read_next()
            if len(self.found.tags) > self.limit:
                self.found.keep(kept_rows(self.found.tags, self.found.values, self.limit // 2))

    def _has(self, count: int) -> bool:
        """Buffer `count` bytes from `pos` on; return False if the file, as opened, ends before them."""
        missing = count - (len(self.buffer) - self.pos)
        if missing > 0:
            self.budget.spend()
            left = self.size - self.base - len(self.buffer)
            more = self.file.read(min(left, max(CHUNK_BYTES, missing)))
            if len(more) < min(left, missing):
                self.size = self.base + len(self.buffer) + len(more)  # it shrank while being read
            self.base += self.pos
            self.buffer, self.pos = self.buffer[self.pos :] + more, 0
            missing -= len(more)
        return missing <= 0

    def _read_next(self) -> None:
        """Read the next record; where none begins, note the damage and skip it."""
        start = self.base + self.pos
        if not self._has(HEADER_BYTES):
            self._end(start, _CUT_SHORT if start else _FOREIGN)
            return
        (length,) = struct.unpack_from("<Q", self.buffer, self.pos)
        if not self._is_header():
            self._resync(start)
        elif start + length + FRAME_BYTES > self.size:
            self._end(start)
        elif length > MAX_RECORD_BYTES:
            self._skip_large(start, length)
        elif self._has(length + FRAME_BYTES):
            self.found.add(self._read_record(start, length))
        else:
            self._end(start)

    def _end(self, start: int, what: str = _CUT_SHORT) -> None:
        """Note the rest of the file as damage, and stop reading."""
        self._add_damage(start, self.size - start, what)
        self.size = self.base + len(self.buffer)
        self.pos = len(self.buffer)

    def _read_batch(self, tables: RecordTables) -> bool:
        """Read all complete records in the buffer together; return False if it holds none."""
        self._has(CHUNK_BYTES)
        offsets = tables.offsets(self.buffer, self.pos)
        if len(offsets) == 1:
            return False
        columns = tables.decode(self.buffer, offsets)
        rows = []
        for number in remaining_records(columns, len(offsets) - 1):
            self.pos = offsets[number]
            length = offsets[number + 1] - self.pos - FRAME_BYTES
            rows += [(number, *scalar) for scalar in self._read_record(self.base + self.pos, length)]
        if rows:
            columns.append(Columns(*zip(*rows, strict=True)))
        if columns:
            self.found.extend(in_order(columns))
        self.pos = offsets[-1]
        return True

    def _read_record(self, start: int, length: int) -> list[Scalar]:
        """Return the scalars of the next record, which the buffer holds."""
        end = self.pos + HEADER_BYTES + length
        payload = self.buffer[end - length : end]
        (check,) = struct.unpack_from("<I", self.buffer, end)
        self.pos = end + FOOTER_BYTES
        if masked_checksum(payload) != check:
            self._add_bad_data(start, length)
            return []
        try:
            event = Event.FromString(payload)
        except DecodeError:
            self._add_damage(start, length + FRAME_BYTES, "the record is no Event message")
            return []
        if not start and not event.file_version.startswith(b"brain.Event"):
            self._add_damage(0, length + FRAME_BYTES, f"{_FOREIGN}: its first record names no version")
        return list(event_scalars(event))

    def _skip_large(self, start: int, length: int) -> None:
        """Skip a record too large for scalars, checking it chunk by chunk."""
        self.pos += HEADER_BYTES
        check = 0
        left = length
        while left and self._has(1):
            part = self.buffer[self.pos : self.pos + min(left, CHUNK_BYTES)]
            check = google_crc32c.extend(check, part)
            left -= len(part)
            self.pos += len(part)
        if self._has(FOOTER_BYTES):
            stored = self.buffer[self.pos : self.pos + FOOTER_BYTES]
            self.pos += FOOTER_BYTES
            if mask_checksum(check).to_bytes(4, "little") != stored:
                self._add_bad_data(start, length)
        else:
            self._end(start)

    def _resync(self, start: int) -> None:
        """Skip to the next offset at which a record begins, or to the end."""
        self.pos += 1
        while self._has(SEARCH_BYTES):
            found = find_record(self.buffer, self.pos)
            if found is not None:
                self.pos = found
                break
            self.pos = len(self.buffer) - HEADER_BYTES
        else:
            self.pos = len(self.buffer)
        end = self.base + self.pos
        is_foreign = start == 0 and end == self.size
        what = _FOREIGN if is_foreign else "a record's length fails its checksum"
        self._add_damage(start, end - start, what)

    def _is_header(self) -> bool:
        _, check = struct.unpack_from("<QI", self.buffer, self.pos)
        return bool(masked_checksum(self.buffer[self.pos : self.pos + 8]) == check)

    def _add_bad_data(self, start: int, length: int) -> None:
        self._add_damage(start, length + FRAME_BYTES, "a record fails its checksum")

    def _add_damage(self, offset: int, length: int, what: str) -> None:
        """Add damage, merged with adjacent damage of its kind; after `MAX_DAMAGE` parts, with the last."""
        damage = self.found.damage
        if len(damage) >= MAX_DAMAGE:
            last = damage.pop()
            offset, length, what = last.offset, offset + length - last.offset, _SCATTERED
        if damage and (last := damage[-1]).what == what and last.offset + (last.length or 0) == offset:
            offset, length = last.offset, length + (last.length or 0)
            damage.pop()
        damage.append(Damage(offset, length, what))
