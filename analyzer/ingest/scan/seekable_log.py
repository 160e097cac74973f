"""A log that can be read at any offset: a file that is neither compressed nor UTF-16.

Block boundaries depend on the bytes of the log alone, so that processes scanning different parts agree.
"""

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.ingest.scan.blocks import BLOCK_BYTES, MAX_BLOCK_BYTES, last_character_boundary
from analyzer.storage.decompress import describe_change, is_compressed

_LINE_SEARCH_BYTES = 4 << 10
"""Bytes that are read at a time when looking for the end of a line."""
_PAGE_SHIFT = 2 << 10
"""Bytes by which block boundaries lie past a page boundary of the file.

Offsets source and destination of the copy by 2 KiB within their pages: with equal low 12 address bits, 4K
aliasing makes the copy about three times as slow.
"""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class SeekableLog:
    """The text of the first `file_size` bytes of a file, without the byte order mark that may precede it."""

    def __init__(self, descriptor: int, bom_bytes: int, file_size: int) -> None:
        self._descriptor, self._bom_bytes = descriptor, bom_bytes
        self.file_size = file_size
        self.size = max(0, file_size - bom_bytes)
        self._no_newline = (0, 0)
        """The latest range of offsets that was found to hold no newline."""

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets, fewer where the log ends."""
        start, end = max(0, start), min(end, self.size)
        parts: list[bytes] = []
        while start < end and (part := os.pread(self._descriptor, end - start, start + self._bom_bytes)):
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def blocks(self, start: int, end: int, buffer: bytearray) -> Iterator[int]:
        """Read the blocks between two offsets into `buffer`, one after the other, and yield their offsets.

        `start` and `end` are multiples of `BLOCK_BYTES`, or the end of the log. There are fewer blocks if
        the file was truncated in the meantime.
        """
        at = self._next_line_start(_shifted(start))
        for window in range(start + BLOCK_BYTES, end + BLOCK_BYTES, BLOCK_BYTES):
            following = self._fill_to_line_start(buffer, at, _shifted(min(window, end)))
            if following > at:
                if buffer:
                    yield at
                if len(buffer) < following - at:
                    return
            at = following

    def _fill_to_line_start(self, buffer: bytearray, start: int, target: int) -> int:
        """Fill the buffer from `start` to the first line at or after `target`; return its offset."""
        held = 0
        if start < target < self.size:
            self._fill(buffer, start, min(target + _LINE_SEARCH_BYTES, self.size))
            held = len(buffer)
            if following := buffer.find(b"\n", target - 1 - start) + 1:
                del buffer[following:]
                return start + following
        following = self._next_line_start(target)
        if following > start:
            self._fill(buffer, start, following, held)
        return following

    def _fill(self, buffer: bytearray, start: int, end: int, held: int = 0) -> None:
        """Read the bytes between two offsets into a buffer that holds the first `held` of them already."""
        buffer.extend(bytes(max(0, end - start - len(buffer))))
        del buffer[end - start :]
        filled = min(held, end - start)
        while filled < len(buffer):
            with memoryview(buffer) as view, view[filled:] as rest:
                more = os.preadv(self._descriptor, [rest], start + filled + self._bom_bytes)
            if not more:
                del buffer[filled:]
            filled += more

    def _next_line_start(self, offset: int) -> int:
        """Return where the first line at or after `offset` begins, in bytes.

        A line longer than a block is cut at `offset`, between two characters.
        """
        if offset <= 0 or offset >= self.size:
            return min(max(0, offset), self.size)
        limit = min(self.size, offset + MAX_BLOCK_BYTES - BLOCK_BYTES)
        start = at = offset - 1
        if self._no_newline[0] <= at < self._no_newline[1]:
            at = self._no_newline[1]
        while at < limit:
            data = self.read(at, min(limit, at + _LINE_SEARCH_BYTES))
            if (found := data.find(b"\n")) >= 0:
                return at + found + 1
            if not data:
                return at
            at += len(data)
        self._no_newline = (start, at)
        if limit == self.size:
            return limit
        before = self.read(offset - 8, offset)
        return offset - len(before) + last_character_boundary(before)

    def damage(self) -> str:
        """Return in words how the file's size has changed since it was opened; empty if it has not."""
        return describe_change(self.file_size, os.fstat(self._descriptor).st_size)


def _shifted(offset: int) -> int:
    return offset + _PAGE_SHIFT if offset else 0


@contextmanager
def open_seekable(path: Path, file_size: int | None = None) -> Iterator[SeekableLog | None]:
    """Open the log in the first `file_size` bytes of a file (by default all); None if it is not seekable.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        head = os.pread(file.fileno(), 8, 0)
        if is_compressed(head) or head.startswith(_UTF16):
            yield None
        else:
            bom_bytes = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
            size = os.fstat(file.fileno()).st_size if file_size is None else file_size
            yield SeekableLog(file.fileno(), bom_bytes, size)
