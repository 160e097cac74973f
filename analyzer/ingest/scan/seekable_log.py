"""A log that can be read at any place: a file that is neither compressed nor UTF-16.

Where its blocks begin follows from its bytes alone: whoever looks through a part of it finds the same ones.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.ingest.scan.blocks import BLOCK, LONGEST_BLOCK, between_signs
from analyzer.storage.decompress import changed, is_packed

_LINE = 4 << 10
"""Bytes in which the end of a line is looked for at once."""
_ASIDE = 2 << 10
"""Bytes by which blocks begin behind the beginning of a page of their file.

The memory that they are copied to begins a few bytes behind that of a page, as a rule. If it lay a few bytes
further in its page than they in theirs, copying would take three times as long: by the last 12 bits of the
address, a processor takes what it reads for what it has just written.
"""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class PlainLog:
    """The text of the first bytes of a file, without the mark that UTF-8 may begin with."""

    def __init__(self, descriptor: int, mark: int, first: int) -> None:
        self._descriptor, self._mark = descriptor, mark
        self.first = first
        self.size = max(0, first - mark)
        self._no_line = (0, 0)
        """Between which bytes no line ends, as was seen last."""

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two places, or those of them that there are."""
        start, end = max(0, start), min(end, self.size)
        parts: list[bytes] = []
        while start < end and (part := os.pread(self._descriptor, end - start, start + self._mark)):
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def blocks(self, start: int, end: int, buffer: bytearray) -> Iterator[int]:
        """Where the blocks of what lies between two places begin; each is in the buffer until the next is.

        `start` is a multiple of the size of a block, and `end` too, or the end of the log. Of a file that was
        cut meanwhile there are fewer.
        """
        at = self._begin(_aside(start))
        for window in range(start + BLOCK, end + BLOCK, BLOCK):
            behind = self._filled(buffer, at, _aside(min(window, end)))
            if behind > at:
                if buffer:
                    yield at
                if len(buffer) < behind - at:
                    return
            at = behind

    def _filled(self, buffer: bytearray, start: int, place: int) -> int:
        """Fill a buffer up to the first line that begins at or behind a place, and tell where that is."""
        held = 0
        if start < place < self.size:
            self._fill(buffer, start, min(place + _LINE, self.size))
            held = len(buffer)
            if behind := buffer.find(b"\n", place - 1 - start) + 1:
                del buffer[behind:]
                return start + behind
        begins = self._begin(place)
        if begins > start:
            self._fill(buffer, start, begins, held)
        return begins

    def _fill(self, buffer: bytearray, start: int, end: int, held: int = 0) -> None:
        """Put the bytes between two places, or what there is, into a buffer that has `held` of them."""
        buffer.extend(bytes(max(0, end - start - len(buffer))))
        del buffer[end - start :]
        read = min(held, end - start)
        while read < len(buffer):
            with memoryview(buffer) as whole, whole[read:] as rest:
                more = os.preadv(self._descriptor, [rest], start + read + self._mark)
            if not more:
                del buffer[read:]
            read += more

    def _begin(self, place: int) -> int:
        """Where the first line begins at or behind a place; in an endless one, a place that cuts no sign."""
        if place <= 0 or place >= self.size:
            return min(max(0, place), self.size)
        last = min(self.size, place + LONGEST_BLOCK - BLOCK)
        start = at = place - 1
        if self._no_line[0] <= at < self._no_line[1]:
            at = self._no_line[1]
        while at < last:
            data = self.read(at, min(last, at + _LINE))
            if (found := data.find(b"\n")) >= 0:
                return at + found + 1
            if not data:
                return at
            at += len(data)
        self._no_line = (start, at)
        if last == self.size:
            return last
        before = self.read(place - 8, place)
        return place - len(before) + between_signs(before)

    def damage(self) -> str:
        """What has become of the file meanwhile; empty where it is as long as it was."""
        return changed(self.first, os.fstat(self._descriptor).st_size)


def _aside(place: int) -> int:
    return place + _ASIDE if place else 0


@contextmanager
def plain_log(path: Path, first: int | None = None) -> Iterator[PlainLog | None]:
    """The log in the first bytes of a file, or in all; None where it cannot be read at any place.

    Raises:
        OSError: it cannot be read.

    """
    with path.open("rb", buffering=0) as file:
        begins = os.pread(file.fileno(), 8, 0)
        if is_packed(begins) or begins.startswith(_UTF16):
            yield None
        else:
            mark = len(codecs.BOM_UTF8) if begins.startswith(codecs.BOM_UTF8) else 0
            yield PlainLog(file.fileno(), mark, os.fstat(file.fileno()).st_size if first is None else first)
