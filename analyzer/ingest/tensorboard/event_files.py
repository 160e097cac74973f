"""TensorBoard event files → scalars, all of them, without TensorFlow and without TensorBoard.

An event file is a chain of records: length (8 bytes), its checksum (4), an Event message, its checksum (4).
Nearly all records of a file differ from one before only in time, step and value. So a record that protobuf
has decoded teaches its *shape*, and the next of that shape is taken apart by one `struct` call.
A shape is compared byte for byte, so that it can be wrong about nothing; whatever differs goes to protobuf.
"""

from __future__ import annotations

import os
import re
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import google_crc32c
from google.protobuf.message import DecodeError

from analyzer.ingest.tensorboard.event_pb2 import Event

CHUNK = 1 << 19
"""Bytes read at once."""
LARGEST = 8 << 20
"""Bytes of a record that may hold scalars; TensorFlow writes nothing but images, audio and graphs above."""

Scalar = tuple[str, int, float, float]
"""Tag, step, wall time (seconds since the epoch), value."""

_Message = Any
"""A protobuf message; the generated code carries no types."""

_HUGE = 4 << 20
"""Bytes of a file from which on it pays to import numpy."""
_FEWEST_ALIKE = 256
"""Records that are worth a table; fewer are taken faster one by one."""
_RESTS = 64
"""So many stretches of fewer are taken one by one until a table is tried again."""
_MOST_TAGS, _LONGEST_STEP = 32, 9
_HEADER = 12
_FRAME = 16
_WORD = 0xFFFFFFFF
_MASK = 0xA282EAD8
_CASTAGNOLI = 0x82F63B78
"""The polynomial of the checksums, its bits turned round."""
_EVENT = re.compile(rb"(\t.{8})((?:\x10[\x80-\xff]{0,9}[\x00-\x7f])?)(.*)", re.DOTALL)
_STEP = re.compile(rb"(?:\x10[\x80-\xff]{0,9}[\x00-\x7f])?")
_PLAUSIBLE = re.compile(rb".{3}\0{5}.{4}\t", re.DOTALL)
_DTYPES = {
    1: ("f", "float_val"), 2: ("d", "double_val"), 3: ("i", "int_val"), 4: ("B", "int_val"),
    5: ("h", "int_val"), 6: ("b", "int_val"), 9: ("q", "int64_val"), 10: ("?", "bool_val"),
    14: ("H", "half_val"), 17: ("H", "int_val"), 19: ("e", "half_val"), 22: ("I", "uint32_val"),
    23: ("Q", "uint64_val"),
}  # fmt: skip
_BFLOAT16, _HALF = 14, 19
_PROBE = -1.5
_CUT = "the file ends inside a record: cut short, or still being written"
_FOREIGN = "not a TensorBoard event file"


class Damage(NamedTuple):
    """A stretch of a file that could not be read; `offset` and `length` in bytes, None if unknown."""

    offset: int
    length: int | None
    what: str


@dataclass(frozen=True, slots=True)
class EventFile:
    """What one event file holds: every scalar in the order of the file, and what could not be read.

    The scalars lie in four columns of one length: a file can hold a million of them.
    """

    tags: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Wall times, in seconds since the epoch."""
    values: list[float] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    @property
    def scalars(self) -> list[Scalar]:
        """The scalars one by one."""
        return list(zip(self.tags, self.steps, self.times, self.values, strict=True))

    def add(self, rows: Sequence[Scalar]) -> None:
        """Put some scalars behind the others."""
        if rows:
            self.extend(*zip(*rows, strict=True))

    def extend(
        self, tags: Iterable[str], steps: Iterable[int], times: Iterable[float], values: Iterable[float]
    ) -> None:
        """Put some scalars, column by column, behind the others."""
        self.tags.extend(tags)
        self.steps.extend(steps)
        self.times.extend(times)
        self.values.extend(values)


def read_scalars(path: Path) -> EventFile:
    """Every scalar of an event file, in file order, neither sampled nor purged.

    Both encodings are read: `simple_value`, and tensors of rank 0 of any real number. Bad bytes never
    raise: they are damage, and what stands before them, and behind where records begin again, is kept.
    Memory is that of the scalars and of one record of at most `LARGEST` bytes.

    Raises:
        OSError: the file cannot be read.

    """
    with path.open("rb") as file:
        reader = _Reader(file, os.fstat(file.fileno()).st_size)
        reader.run()
    return reader.found


class _Shape(NamedTuple):
    """Where the parts stand in the records of one length, and which bytes of theirs name which tag."""

    unpack: Callable[[bytes, int], tuple[Any, ...]]
    size: int
    tags: dict[bytes, tuple[str, bytes]]
    raw: int
    """Bytes of the step."""
    prefix: int
    """Bytes between the step and the value."""
    value: str
    """Type of the value, as numpy calls it."""


class _Steps(dict[bytes, int]):
    """Steps by the bytes of their field; bytes that hold anything beside it are a KeyError."""

    def __missing__(self, raw: bytes) -> int:
        if not _STEP.fullmatch(raw):
            raise KeyError(raw)
        bits = int.from_bytes(raw[1:], "little")
        step = bits & 0x7F | bits >> 1 & 0x3F80 | bits >> 2 & 0x1FC000
        self[raw] = step = step if len(raw) < 5 else int(Event.FromString(raw).step)
        return step


def _texts(table: Any) -> Any:  # noqa: ANN401 - numpy, which is imported where it is wanted
    """Each row of a table of bytes as one text, which numpy compares faster than one byte after the other.

    Texts of one length are equal where their bytes are, though numpy leaves zeros at their end out of it.
    """
    import numpy as np

    return np.ascontiguousarray(table).view(f"S{table.shape[1]}")[:, 0]


class _Reader:
    """Reads one file; `buffer[pos]`, at `base + pos` of the file, begins the next record."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size
        self.buffer, self.base, self.pos = b"", 0, 0
        self.found = EventFile()
        self.shapes: dict[bytes, _Shape] = {}
        self.steps = _Steps()
        self.rests = 0

    def run(self) -> None:
        if not self.size:
            self._lost(0, 0, "the file is empty")
        while self._has(1):
            if self.rests:
                self.rests -= 1
            elif self.size >= _HUGE:
                self._alike()
            if self._known() >= _FEWEST_ALIKE:
                self.rests = 0
            if self._has(1):
                self._next()

    @cached_property
    def sums(self) -> _Sums:
        return _Sums()

    def _has(self, count: int) -> bool:
        """Whether `count` more bytes can be had; no further than the file reached when it was opened."""
        missing = count - (len(self.buffer) - self.pos)
        if missing > 0:
            left = self.size - self.base - len(self.buffer)
            more = self.file.read(min(left, max(CHUNK, missing)))
            if len(more) < min(left, missing):
                self.size = self.base + len(self.buffer) + len(more)  # it shrank while being read
            self.base += self.pos
            self.buffer, self.pos = self.buffer[self.pos :] + more, 0
            missing -= len(more)
        return missing <= 0

    def _alike(self) -> None:
        """Takes records from here on as the rows of a table, as long as they have the shape of the first."""
        import numpy as np

        while shape := self.shapes.get(self.buffer[self.pos : self.pos + _HEADER + 1]):
            count = (len(self.buffer) - self.pos) // shape.size
            if count < _FEWEST_ALIKE or shape.raw > _LONGEST_STEP or len(shape.tags) > _MOST_TAGS:
                return
            table = np.frombuffer(self.buffer, np.uint8, count * shape.size, self.pos)
            table = table.reshape(count, shape.size)
            start = _HEADER + 9
            end = start + shape.raw
            behind = end + shape.prefix
            width = np.dtype(shape.value).itemsize
            fits = _texts(table[:, : _HEADER + 1]) == table[0, : _HEADER + 1].tobytes()
            steps = np.zeros(count, np.int64)
            if shape.raw:
                fits &= (table[:, start] == 0x10) & (table[:, end - 1] < 0x80)
                fits &= (table[:, start + 1 : end - 1] >= 0x80).all(axis=1)
                for nth in range(shape.raw - 1):
                    steps |= (table[:, start + 1 + nth].astype(np.int64) & 0x7F) << 7 * nth
            tags = np.full(count, -1, np.int8)
            around = _texts(
                np.delete(table, [*range(end), *range(behind, behind + width), -4, -3, -2, -1], 1)
            )
            for nth, (prefix, (_, suffix)) in enumerate(shape.tags.items()):
                tags[around == prefix + suffix] = nth
            fits &= tags >= 0
            count = count if fits.all() else int(fits.argmin())
            if count < _FEWEST_ALIKE:
                self.rests = _RESTS
                return

            def cells(first: int, last: int | None, kind: str) -> list[Any]:
                found: list[Any] = table[:count, first:last].copy().view(kind)[:, 0].tolist()  # noqa: B023
                return found

            names = [tag for tag, _ in shape.tags.values()]
            named = [names[nth] for nth in tags[:count].tolist()]
            counted = steps[:count].tolist()
            times = cells(_HEADER + 1, start, "<f8")
            values = cells(behind, behind + width, shape.value)
            checks = table[:count, -4:].copy().view("<u4")[:, 0]
            if (self.sums(table[:count, _HEADER:-4]) == checks).all():
                self.found.extend(named, counted, times, values)
            else:
                ends = range(self.pos + shape.size - 4, self.pos + count * shape.size, shape.size)
                length = shape.size - _FRAME
                rows = list(zip(named, counted, times, values, strict=True))
                self._keep(rows, [self.buffer[at - length : at] for at in ends], checks.tolist())
            self.pos += count * shape.size

    def _known(self) -> int:
        """Takes the records from here on that have a known shape, one by one, and says how many."""
        buffer, pos, size = self.buffer, self.pos, len(self.buffer)
        shapes, steps = self.shapes, self.steps
        rows: list[Scalar] = []
        payloads: list[bytes] = []
        checks: list[int] = []
        with suppress(KeyError):
            while True:
                unpack, length, tags, *_ = shapes[buffer[pos : pos + _HEADER + 1]]
                if (end := pos + length) > size:
                    break
                time, raw, prefix, value, suffix, check = unpack(buffer, pos)
                tag, expected = tags[prefix]
                if suffix != expected:
                    break
                rows.append((tag, steps[raw], time, value))
                payloads.append(buffer[pos + _HEADER : end - 4])
                checks.append(check)
                pos = end
        self._keep(rows, payloads, checks)
        self.pos = pos
        return len(rows)

    def _keep(self, rows: list[Scalar], payloads: list[bytes], checks: list[int]) -> None:
        sums = _masked(payloads)
        if sums == array("Q", checks):
            self.found.add(rows)
            return
        offset = self.base + self.pos
        for row, payload, ours, theirs in zip(rows, payloads, sums, checks, strict=True):
            if ours == theirs:
                self.found.add([row])
            else:
                self._bad_data(offset, len(payload))
            offset += len(payload) + _FRAME

    def _next(self) -> None:
        """Takes one record of any kind, or passes over bytes that are none."""
        start = self.base + self.pos
        if not self._has(_HEADER):
            self._cut(start, _CUT if start else _FOREIGN)
        elif not _is_header(self.buffer, self.pos):
            self._resync(start)
        else:
            (length,) = struct.unpack_from("<Q", self.buffer, self.pos)
            whole = start + length + _FRAME <= self.size
            if whole and length > LARGEST:
                self._skip(start, length)
            elif whole and self._has(length + _FRAME):
                self._record(start, length)
            else:
                self._cut(start)

    def _cut(self, start: int, what: str = _CUT) -> None:
        self._lost(start, self.size - start, what)
        self.size = self.base + len(self.buffer)
        self.pos = len(self.buffer)

    def _record(self, start: int, length: int) -> None:
        end = self.pos + _HEADER + length
        head, payload = self.buffer[self.pos : self.pos + _HEADER + 1], self.buffer[end - length : end]
        (check,) = struct.unpack_from("<I", self.buffer, end)
        self.pos = end + 4
        if _masked([payload])[0] != check:
            self._bad_data(start, length)
            return
        try:
            event = Event.FromString(payload)
        except DecodeError:
            self._lost(start, length + _FRAME, "the record is no Event message")
            return
        if not start and not event.file_version.startswith(b"brain.Event"):
            self._lost(0, length + _FRAME, f"{_FOREIGN}: its first record names no version")
        rows = list(_rows(event))
        self.found.add(rows)
        if len(rows) == len(event.summary.value) == 1:
            self._learn(head, payload, event, rows[0])

    def _learn(self, head: bytes, payload: bytes, event: Event, row: Scalar) -> None:
        """Finds the bytes of the value by experiment: put another there, and see that just it is read."""
        code = {0: "f", 1: "f", 2: "d"}.get(event.summary.value[0].tensor.dtype)
        parts = _EVENT.fullmatch(payload)
        if code is None or parts is None:
            return
        time, raw, rest = parts.groups()
        cell = struct.pack(f"<{code}", row[3])
        at = rest.rfind(cell)
        prefix, suffix = rest[:at], rest[at + len(cell) :]
        probe = time + raw + prefix + struct.pack(f"<{code}", _PROBE) + suffix
        if at < 0 or not _reads_as(probe, (*row[:3], _PROBE)):
            return
        layout = struct.Struct(f"<13xd{len(raw)}s{len(prefix)}s{code}{len(suffix)}sI")
        shape = self.shapes.get(head)
        if shape is None or shape.unpack.__self__.format != layout.format:  # type: ignore[attr-defined]
            shape = self.shapes[head] = _Shape(
                layout.unpack_from, layout.size, {}, len(raw), len(prefix), f"<f{len(cell)}"
            )
        shape.tags[prefix] = (row[0], suffix)

    def _skip(self, start: int, length: int) -> None:
        """Checks a record too large for scalars, without ever holding it."""
        self.pos += _HEADER
        check = 0
        left = length
        while left and self._has(1):
            part = self.buffer[self.pos : self.pos + min(left, CHUNK)]
            check = google_crc32c.extend(check, part)
            left -= len(part)
            self.pos += len(part)
        if self._has(4):
            stored = self.buffer[self.pos : self.pos + 4]
            self.pos += 4
            if _mask(check).to_bytes(4, "little") != stored:
                self._bad_data(start, length)
        else:
            self._cut(start)

    def _resync(self, start: int) -> None:
        """Passes to the next place where a record begins, or to the end."""
        self.pos += 1
        while self._has(_HEADER + 1):
            match = _PLAUSIBLE.search(self.buffer, self.pos)
            self.pos = match.start() if match else len(self.buffer) - _HEADER
            if match and _is_header(self.buffer, self.pos):
                break
            self.pos += bool(match)
        else:
            self.pos = len(self.buffer)
        end = self.base + self.pos
        foreign = start == 0 and end == self.size
        self._lost(start, end - start, _FOREIGN if foreign else "a record's length fails its checksum")

    def _bad_data(self, start: int, length: int) -> None:
        self._lost(start, length + _FRAME, "a record fails its checksum")

    def _lost(self, offset: int, length: int, what: str) -> None:
        """Notes damage; stretches that touch are one."""
        damage = self.found.damage
        if damage and (last := damage[-1]).what == what and last.offset + (last.length or 0) == offset:
            offset, length = last.offset, length + (last.length or 0)
            damage.pop()
        damage.append(Damage(offset, length, what))


class _Sums:
    """Checksums of payloads of one length, the rows of a table: two bytes of all of them at each turn."""

    def __init__(self) -> None:
        import numpy as np

        of_byte: Any = np.arange(256, dtype=np.uint32)
        for _ in range(8):
            of_byte = of_byte >> 1 ^ (of_byte & 1) * np.uint32(_CASTAGNOLI)
        pairs = np.arange(1 << 16, dtype=np.uint32)
        first = of_byte[pairs & 0xFF]
        self._of_byte = of_byte
        self._of_pair = of_byte[(first ^ pairs >> 8) & 0xFF] ^ first >> 8

    def __call__(self, table: Any) -> Any:  # noqa: ANN401 - arrays of numpy, which is imported when it is used
        import numpy as np

        even = table.shape[1] & ~1
        pairs = np.ascontiguousarray(np.ascontiguousarray(table[:, :even]).view("<u2").T)
        check = np.full(len(table), _WORD, np.uint32)
        for pair in pairs:
            check = self._of_pair[(check ^ pair) & 0xFFFF] ^ check >> 16
        for last in table.T[even:]:
            check = self._of_byte[(check ^ last) & 0xFF] ^ check >> 8
        check = ~check
        return (check >> 15 | check << 17) + np.uint32(_MASK)


def _mask(check: int) -> int:
    return ((check >> 15 | check << 17 & _WORD) + _MASK) & _WORD


def _masked(payloads: list[bytes]) -> array[int]:
    """The checksums as files hold them; all are masked at once, as 64-bit lanes of one large integer."""
    lanes = int.from_bytes(b"\1\0\0\0\0\0\0\0" * len(payloads), "little")
    sums = int.from_bytes(array("Q", map(google_crc32c.value, payloads)).tobytes(), "little")
    turned = (sums >> 15 & lanes * 0x1FFFF) | (sums << 17 & lanes * _WORD)
    masked = turned + lanes * _MASK & lanes * _WORD
    return array("Q", masked.to_bytes(8 * len(payloads), "little"))


def _is_header(buffer: bytes, pos: int) -> bool:
    (check,) = struct.unpack_from("<I", buffer, pos + 8)
    return bool(_mask(google_crc32c.value(buffer[pos : pos + 8])) == check)


def _reads_as(payload: bytes, row: Scalar) -> bool:
    try:
        return list(_rows(Event.FromString(payload))) == [row]
    except DecodeError:
        return False


def _rows(event: Event) -> Iterator[Scalar]:
    for value in event.summary.value:
        kind = value.WhichOneof("value")
        number = value.simple_value if kind == "simple_value" else _scalar(value.tensor) if kind else None
        if number is not None:
            yield value.tag.decode(errors="replace"), event.step, event.wall_time, number


def _scalar(tensor: _Message) -> float | None:
    """The value of a tensor of rank 0, or None: other ranks and other types are no scalars."""
    if tensor.dtype not in _DTYPES or tensor.shape.dim or tensor.shape.unknown_rank:
        return None
    code, values = _DTYPES[tensor.dtype]
    content = tensor.content
    if not content:
        return _from_values(tensor.dtype, getattr(tensor, values))
    if len(content) != struct.calcsize(f"<{code}"):
        return None
    (number,) = struct.unpack(f"<{code}", content)
    return _from_values(_BFLOAT16, [number]) if tensor.dtype == _BFLOAT16 else float(number)


def _from_values(dtype: int, values: Sequence[float]) -> float:
    """TensorFlow leaves out values that repeat, and so may leave out all zeros."""
    if not values:
        return 0.0
    if dtype not in (_BFLOAT16, _HALF):
        return float(values[0])
    bits = int(values[0]) & 0xFFFF
    raw, code = (bits << 16, "<I<f") if dtype == _BFLOAT16 else (bits, "<H<e")
    (number,) = struct.unpack(code[2:], struct.pack(code[:2], raw))
    return float(number)
