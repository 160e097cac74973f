"""Scans one log and selects the lines to read; an uncompressed log can be scanned in parts."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import NamedTuple

from analyzer.ingest.logs.text import Utf8
from analyzer.ingest.scan.blocks import BlockScan, BlockScanner
from analyzer.ingest.scan.line_selection import (
    MAX_WHOLE_BYTES,
    Sampling,
    Selection,
    select_from_scans,
    select_from_stream,
)
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.seekable_log import SeekableLog, open_seekable
from analyzer.model.budget import Budget, OverBudgetError
from analyzer.model.run import Source
from analyzer.storage.decompress import Chunks

LARGE_LOG_BYTES = 4 << 20
"""Minimum size of a log, or of a group of logs, that the pool of reader processes reads."""
_BYTES_PER_LOG = 64 << 10
"""Bytes that are scanned in the time that a log takes however small it is."""

OffsetCallback = Callable[[int], None]
"""Called with the number of bytes that have been read of a log."""


class LogScan(NamedTuple):
    """Which lines of a log to read, and what is damaged in the file or its encoding."""

    selection: Selection
    damage: str
    broken_at: int | None
    """Offset of the first bytes that are invalid UTF-16; None if there are none."""


class LogPart(NamedTuple):
    """The blocks that begin between two offsets of a log that was `size` bytes long when it was opened."""

    size: int
    start: int
    end: int


def log_groups(logs: Iterable[Source], size: Callable[[Source], int]) -> list[list[Source]]:
    """Return the logs that the pool reads: each large one alone, and groups of small ones.

    A group takes as long as a large log; small logs that are too few for a group are left out.
    """
    groups: list[list[Source]] = []
    small: list[Source] = []
    weight = 0
    for log in logs:
        if size(log) >= LARGE_LOG_BYTES:
            groups.append([log])
            continue
        small.append(log)
        weight += size(log) + _BYTES_PER_LOG
        if weight >= LARGE_LOG_BYTES:
            groups.append(small)
            small, weight = [], 0
    return groups


def scan_log(
    source: Source,
    prefilter: Callable[[], Prefilter],
    progress: OffsetCallback,
    sampling: Sampling,
    budget: Budget,
) -> LogScan:
    """Scan a log from end to end and return the lines to read.

    Raises:
        OSError: the file cannot be read, or its compressed contents are broken from the first byte on.
    """
    size = source.path.stat().st_size
    with open_seekable(source.path) if size > sampling.whole else nullcontext() as log:
        if log and log.size > sampling.whole:
            loaded = prefilter()
            scans = _scan_blocks(log, 0, log.size, BlockScanner(loaded), sampling, budget, progress)
            return _selected(scans, log, loaded, sampling, budget)
    chunks = Chunks(source.path, budget)
    text = Utf8(chunks)
    selection = select_from_stream(text, prefilter, size, progress, sampling)
    return LogScan(selection, chunks.damage, text.broken_at)


def divisible_size(source: Source) -> int:
    """Return the size in bytes of a log that can be scanned in parts; 0 if it cannot."""
    try:
        with open_seekable(source.path) as log:
            return log.file_size if log and log.size > MAX_WHOLE_BYTES else 0
    except OSError:
        return 0


def scan_part(
    source: Source,
    part: LogPart,
    scanner: BlockScanner,
    sampling: Sampling,
    budget: Budget,
    progress: OffsetCallback,
) -> list[BlockScan]:
    """Return the scans of the blocks of one part of a log.

    Raises:
        OSError: the file cannot be read.
    """
    with open_seekable(source.path, part.size) as log:
        if not log:
            return []
        return list(_scan_blocks(log, part.start, part.end, scanner, sampling, budget, progress))


def combine_parts(
    source: Source,
    size: int,
    scans: Iterable[BlockScan],
    prefilter: Prefilter,
    sampling: Sampling,
    budget: Budget,
) -> LogScan:
    """Select the lines to read of a log of `size` bytes, given the scans of all its blocks in order.

    Raises:
        OSError: the file can no longer be read.
    """
    with open_seekable(source.path, size) as log:
        if not log:
            raise OSError("it was replaced while it was read")
        return _selected(_adjoining(scans), log, prefilter, sampling, budget)


def _selected(
    scans: Iterable[BlockScan], log: SeekableLog, prefilter: Prefilter, sampling: Sampling, budget: Budget
) -> LogScan:
    selection = select_from_scans(scans, log, prefilter, sampling, log.size)
    left_out = budget.excess(unpacking=False) if selection.bytes < log.size else ""
    return LogScan(selection, log.damage() or left_out, None)


def _adjoining(scans: Iterable[BlockScan]) -> Iterator[BlockScan]:
    """Yield the scans of a log up to the first gap, where the budget was spent."""
    end = 0
    for scan in scans:
        if scan.offset > end:
            return
        yield scan
        end = scan.end


def _scan_blocks(
    log: SeekableLog,
    start: int,
    end: int,
    scanner: BlockScanner,
    sampling: Sampling,
    budget: Budget,
    progress: OffsetCallback,
) -> Iterator[BlockScan]:
    """Yield the scans of the blocks between two offsets, fewer if the budget is spent."""
    for offset in log.blocks(start, end, scanner.buffer):
        try:
            budget.spend()
        except OverBudgetError:
            return
        yield scanner.scan(scanner.buffer, offset, sampling.spacing(log.size))
        progress(offset + len(scanner.buffer))
