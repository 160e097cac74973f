"""Byte ranges of a file, read only where they are accessed: a large trace is never in memory as a whole."""

from __future__ import annotations

import os
from typing import overload

from analyzer.model.budget import Budget

_BLOCK_BYTES = 64 << 10


class FileBlocks:
    """Reads single bytes of a file, a block at a time."""

    def __init__(self, descriptor: int, budget: Budget) -> None:
        self.descriptor, self._budget = descriptor, budget
        self._start, self._block = 0, b""

    def byte(self, offset: int) -> int:
        """Return one byte.

        Raises:
            IndexError: the file ends before it.
            OverBudgetError: reading the run takes too long.
        """
        if not 0 <= offset - self._start < len(self._block):
            self._budget.spend()
            self._start, self._block = offset, os.pread(self.descriptor, _BLOCK_BYTES, offset)
        return self._block[offset - self._start]


class FileWindow:
    """The bytes of a file from `start` to `end`, sliced without being read."""

    def __init__(self, blocks: FileBlocks, start: int, end: int) -> None:
        self._blocks, self._start, self._end = blocks, start, end

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._end - self._start

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> FileWindow: ...
    def __getitem__(self, at: int | slice) -> int | FileWindow:
        """Return one byte, or the window of a slice with step 1."""
        if isinstance(at, slice):
            start, end, _ = at.indices(len(self))
            return FileWindow(self._blocks, self._start + start, self._start + max(start, end))
        if at >= len(self):
            raise IndexError(at)
        return self._blocks.byte(self._start + at)

    def __bytes__(self) -> bytes:
        """Read the bytes."""
        return os.pread(self._blocks.descriptor, len(self), self._start)
