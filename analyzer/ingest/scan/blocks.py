"""Splits a log into blocks of whole lines, about 512 KiB each, and scans them.

The scan of a block does not depend on earlier blocks, so that any process can scan any block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

import stringzilla

from analyzer.ingest.scan.byte_stats import Data, count_newlines, first_invalid_bytes
from analyzer.ingest.scan.prefilter import Prefilter

BLOCK_BYTES = 512 << 10
"""Size of a block, unless a line reaches beyond it."""
MAX_BLOCK_BYTES = 2 << 20
"""Size of the largest block; a longer line is cut."""
_MIN_BLOCK_BYTES = 256 << 10
_MAX_SAMPLE_BYTES = 1 << 10
_LINE_BREAKS = (b"\n", b"\r", b"\x08")
_LINE_BREAK = re.compile(rb"[\n\r\x08]")
_EPOCH_HEADER = re.compile(rb"Epoch \d+/\d+")
_EPOCHS_TRIED = 64
"""Number of places with `Epoch ` that are tried for a header; tqdm prints thousands of others in a block."""


class LogSlice(NamedTuple):
    """Consecutive lines of a log: the byte offset and the line number of the first, and their bytes."""

    offset: int
    line: int
    data: bytes

    @property
    def end(self) -> int:
        """The offset just past the last byte."""
        return self.offset + len(self.data)

    def shifted(self, lines: int) -> LogSlice:
        """Return a copy whose line number is higher by `lines`."""
        return self._replace(line=self.line + lines)


class LineHit(NamedTuple):
    """An occurrence with its line: number of the expression, offset just past it, line number."""

    expression: int
    end: int
    line: int


class Sample(NamedTuple):
    """A line sampled for the curves, and the closest epoch header above it in the same block."""

    epoch: LogSlice | None
    line: LogSlice


class BlockScan(NamedTuple):
    """The result of scanning a block; `offset` is absolute in the log, line numbers count from the block."""

    offset: int
    size: int
    newlines: int
    hits: list[LineHit]
    """The first occurrence of each expression."""
    samples: list[Sample]
    epoch: LogSlice | None
    """The last epoch header."""
    nul: int | None
    """Offset of the first NUL byte."""
    undecodable: int | None
    """Offset of the first byte that is not UTF-8."""

    @property
    def end(self) -> int:
        """The offset just past the block."""
        return self.offset + self.size


class BlockScanner:
    """Finds the searched texts, epoch headers and sample lines in one block of a log after another."""

    def __init__(self, prefilter: Prefilter) -> None:
        self._prefilter = prefilter
        self.buffer = bytearray()
        """Memory for one block, reused so that it is allocated once."""

    def scan(self, data: Data, offset: int, spacing: int) -> BlockScan:
        """Return the scan of the block at an offset, sampling one line per `spacing` bytes of the log."""
        lines = NewlineCounter(data)
        found = self._prefilter.first_occurrences(data)
        epoch = last_epoch_header(data, len(data), offset, lines)
        invalid = first_invalid_bytes(data)
        return BlockScan(
            offset,
            len(data),
            hits=[LineHit(number, offset + end, lines.before(end)) for number, end in found],
            samples=[
                _sample(data, at, offset, lines, has_epoch=epoch is not None)
                for at in range(-offset % spacing, len(data), spacing)
            ],
            epoch=epoch,
            newlines=lines.before(len(data)),
            nul=None if invalid.nul is None else offset + invalid.nul,
            undecodable=None if invalid.undecodable is None else offset + invalid.undecodable,
        )


def _sample(data: Data, at: int, offset: int, lines: NewlineCounter, *, has_epoch: bool) -> Sample:
    epoch = last_epoch_header(data, at, offset, lines) if has_epoch else None
    start = line_start(data, at)
    line = bytes(data[start : line_end(data, at, at + _MAX_SAMPLE_BYTES)])
    return Sample(epoch, LogSlice(offset + start, lines.before(start), line))


class NewlineCounter:
    """Counts newlines before an offset, starting from the closest earlier offset that was asked for."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._counted = [(0, 0)]

    def before(self, offset: int) -> int:
        """Count the newlines before an offset."""
        after = bisect_right(self._counted, offset, key=itemgetter(0))
        start, count = self._counted[after - 1]
        if offset > start:
            count += count_newlines(self._data, start, offset)
            self._counted.insert(after, (offset, count))
        return count


def last_epoch_header(data: Data, before: int, offset: int, lines: NewlineCounter) -> LogSlice | None:
    """Return the last epoch header before a position in the block at `offset`; None if none is close.

    Callbacks that print `Epoch 3: val_loss improved` stand between two headers, one line each.
    """
    begin = max(before, 0)
    for _ in range(_EPOCHS_TRIED):
        begin = stringzilla.rfind(data, b"Epoch ", 0, begin)
        if begin < 0:
            return None
        if _EPOCH_HEADER.match(data, begin):
            start = line_start(data, begin)
            line = bytes(data[start : line_end(data, begin, begin + _MAX_SAMPLE_BYTES)])
            return LogSlice(offset + start, lines.before(start), line)
    return None


def line_start(data: Data, at: int) -> int:
    """Return the start of the line (or progress-bar redraw) that contains `at`, at most 1 KiB before it."""
    least = max(0, at - _MAX_SAMPLE_BYTES)
    last = max(data.rfind(line_break, least, at) for line_break in _LINE_BREAKS)
    return last + 1 if last >= 0 else least


def line_end(data: Data, at: int, limit: int) -> int:
    """Return the offset just past the line (or progress-bar redraw) that contains `at`, at most `limit`."""
    match = _LINE_BREAK.search(data, at, limit)
    return match.end() if match else min(limit, len(data))


def split_into_blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Regroup bytes into blocks of whole lines; a line longer than any block is cut."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size < _MIN_BLOCK_BYTES:
            continue
        cut = part.rfind(b"\n") + 1
        if not cut and size >= MAX_BLOCK_BYTES:
            part = b"".join(held)
            held, cut = [part], last_character_boundary(part)
        if cut:
            yield _join_up_to(held, cut)
            held = [part[cut:]] if cut < len(part) else []
            size = len(part) - cut
    if size:
        yield b"".join(held)


def _join_up_to(parts: list[bytes], cut: int) -> bytes:
    """Join parts, the last of them only up to `cut`; a single whole part is not copied."""
    *before, last = parts
    return last if not before and cut == len(last) else b"".join([*before, memoryview(last)[:cut]])


def last_character_boundary(data: bytes) -> int:
    """Return the largest offset that does not split a UTF-8 character."""
    starts = (at for at in range(len(data) - 1, len(data) - 5, -1) if data[at] & 0xC0 != 0x80)
    return next(starts, len(data))
