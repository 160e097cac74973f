"""What stands in a block of a log: some hundred thousand bytes of whole lines, looked through once.

A block is looked through by itself, whatever stands before it; so any process may do it, in any order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analyzer.ingest.scan.byte_stats import Data, newlines, odd
from analyzer.ingest.scan.prefilter import Found, Prefilter

BLOCK = 512 << 10
"""Bytes of a block, unless a line reaches beyond them."""
LONGEST_BLOCK = 2 << 20
"""Bytes of the largest block; a line that is longer is cut."""
_LEAST_BLOCK = 256 << 10
_LONGEST_SAMPLE = 1 << 10
_BREAKS = (b"\n", b"\r", b"\x08")
_BREAK = re.compile(rb"[\n\r\x08]")


class Stretch(NamedTuple):
    """Some lines of a log that stand together: the byte and the line at which they begin, and their bytes."""

    offset: int
    line: int
    data: bytes

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.offset + len(self.data)

    def moved(self, lines: int) -> Stretch:
        """The same, so many lines further down."""
        return self._replace(line=self.line + lines)


class Place(NamedTuple):
    """Where something stands: its number, the byte behind it, and the line."""

    what: int
    end: int
    line: int


class Sample(NamedTuple):
    """A line, and the last one above it in its block that says which epoch begins."""

    epoch: Stretch | None
    line: Stretch


class Block(NamedTuple):
    """What stands in a block: its bytes are counted from the log's beginning, its lines from its own."""

    offset: int
    size: int
    newlines: int
    found: list[Place]
    """Each thing that stands in it, at its first place."""
    samples: list[Sample]
    epoch: Stretch | None
    """Its last line that says which epoch begins."""
    nul: int | None
    undecodable: int | None
    """Where the first bytes stand that are no UTF-8."""

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.offset + self.size


class Scanner:
    """Looks through blocks of logs."""

    def __init__(self, prefilter: Prefilter) -> None:
        self._scout = prefilter
        self.buffer = bytearray()
        """Room for a block; memory that is used again need not be had from the system again."""

    def __call__(self, data: Data, offset: int, distance: int) -> Block:
        """What stands in a block that begins at a byte of a log; each `distance` bytes give a sample."""
        lines = Lines(data)
        found = self._scout.first(data)
        has_epoch = any(each.what == self._scout.epoch for each in found)
        nul, undecodable = odd(data)
        return Block(
            offset,
            len(data),
            found=placed((each for each in found if each.what != self._scout.epoch), offset, lines),
            samples=[
                _sample(data, at, offset, lines, has_epoch)
                for at in range(-offset % distance, len(data), distance)
            ],
            epoch=epoch_before(data, len(data), offset, lines) if has_epoch else None,
            newlines=lines.before(len(data)),
            nul=None if nul is None else offset + nul,
            undecodable=None if undecodable is None else offset + undecodable,
        )


def _sample(data: Data, at: int, offset: int, lines: Lines, has_epoch: bool) -> Sample:
    """The line that holds a byte of a block, with the line that says which epoch it lies in."""
    epoch = epoch_before(data, at, offset, lines) if has_epoch else None
    start = last_break(data, at)
    line = bytes(data[start : next_break(data, at, at + _LONGEST_SAMPLE)])
    return Sample(epoch, Stretch(offset + start, lines.before(start), line))


class Lines:
    """Tells how many lines end before a place, counting from the next one before it that was asked for."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._counted = [(0, 0)]

    def before(self, place: int) -> int:
        """How many newlines stand before a place."""
        behind = bisect_right(self._counted, place, key=_place)
        point, count = self._counted[behind - 1]
        if place > point:
            count += newlines(self._data, point, place)
            self._counted.insert(behind, (place, count))
        return count


def _place(counted: tuple[int, int]) -> int:
    return counted[0]


def placed(found: Iterable[Found], offset: int, lines: Lines) -> list[Place]:
    """What was found in a block that begins at a byte, with its lines."""
    return [Place(each.what, offset + each.end, lines.before(each.end)) for each in found]


def epoch_before(data: Data, before: int, offset: int, lines: Lines) -> Stretch | None:
    """The last line before a place that says which epoch begins, of a block that begins at a byte."""
    begin = data.rfind(b"Epoch ", 0, max(before, 0))
    if begin < 0:
        return None
    start = last_break(data, begin)
    line = bytes(data[start : next_break(data, begin, begin + _LONGEST_SAMPLE)])
    return Stretch(offset + start, lines.before(start), line)


def last_break(data: Data, at: int) -> int:
    """Where the line that holds a byte begins, or the last state of a redrawn one; an endless one is cut."""
    least = max(0, at - _LONGEST_SAMPLE)
    last = max(data.rfind(sign, least, at) for sign in _BREAKS)
    return last + 1 if last >= 0 else least


def next_break(data: Data, at: int, most: int) -> int:
    """Behind the line that holds a byte, or the state of a redrawn one."""
    match = _BREAK.search(data, at, most)
    return match.end() if match else min(most, len(data))


def blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks of whole lines; a line that is larger than any block is cut."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size < _LEAST_BLOCK:
            continue
        cut = part.rfind(b"\n") + 1
        if not cut and size >= LONGEST_BLOCK:
            part = b"".join(held)
            held, cut = [part], between_signs(part)
        if cut:
            yield (
                part
                if len(held) == 1 and cut == len(part)
                else b"".join([*held[:-1], memoryview(part)[:cut]])
            )
            held = [part[cut:]] if cut < len(part) else []
            size = len(part) - cut
    if size:
        yield b"".join(held)


def between_signs(data: bytes) -> int:
    """The last place at which no sign of UTF-8 is cut in two."""
    ends = (at for at in range(len(data) - 1, len(data) - 5, -1) if data[at] & 0xC0 != 0x80)
    return next(ends, len(data))
