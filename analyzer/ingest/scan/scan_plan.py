"""Scans one log and selects the lines to read; an uncompressed log can be scanned in parts."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from analyzer.ingest.logs.text import Utf8
from analyzer.ingest.scan.blocks import BlockScan, BlockScanner
from analyzer.ingest.scan.line_selection import (
    SMALL_LOG_BYTES,
    SamplingBudget,
    Selection,
    select_from_scans,
    select_from_stream,
)
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.seekable_log import SeekableLog, open_seekable
from analyzer.model.run import Source
from analyzer.storage.decompress import Chunks

LARGE_LOG_BYTES = 4 << 20
"""Minimum size of a log that the pool of reader processes scans."""

OffsetCallback = Callable[[int], None]
"""Called with the number of bytes that have been read of a log."""


class LogScan(NamedTuple):
    """The lines of a log that are to be read, and what is wrong with the file or its encoding."""

    selection: Selection
    damage: str
    broken_at: int | None
    """Offset of the first bytes that are invalid UTF-16; None if there are none."""


class LogPart(NamedTuple):
    """The blocks that begin between two offsets of a log that was `size` bytes long when it was opened."""

    size: int
    start: int
    end: int


def scan_log(
    source: Source,
    prefilter: Callable[[], Prefilter],
    progress: OffsetCallback,
    budget: SamplingBudget,
) -> LogScan:
    """Scan a log from end to end and return the lines to read.

    Raises:
        OSError: the file cannot be read, or its compressed contents are broken from the first byte on.

    """
    with open_seekable(source.path) as log:
        if log and log.size > SMALL_LOG_BYTES:
            loaded = prefilter()
            scans = _scan_blocks(log, 0, log.size, BlockScanner(loaded), budget, progress)
            return LogScan(select_from_scans(scans, log, loaded, budget, log.size), log.damage(), None)
    chunks = Chunks(source.path)
    text = Utf8(chunks)
    selection = select_from_stream(text, prefilter, source.path.stat().st_size, progress, budget)
    return LogScan(selection, chunks.damage, text.broken_at)


def divisible_size(source: Source) -> int:
    """Return the size in bytes of a log that can be scanned in parts; 0 if it cannot."""
    try:
        with open_seekable(source.path) as log:
            return log.file_size if log and log.size > SMALL_LOG_BYTES else 0
    except OSError:
        return 0


def scan_part(
    source: Source, part: LogPart, scanner: BlockScanner, budget: SamplingBudget, progress: OffsetCallback
) -> list[BlockScan]:
    """Return the scans of the blocks of one part of a log.

    Raises:
        OSError: the file cannot be read.

    """
    with open_seekable(source.path, part.size) as log:
        return list(_scan_blocks(log, part.start, part.end, scanner, budget, progress)) if log else []


def combine_parts(
    source: Source, size: int, scans: Iterable[BlockScan], prefilter: Prefilter, budget: SamplingBudget
) -> LogScan:
    """Select the lines to read of a log of `size` bytes, given the scans of all its blocks in order.

    Raises:
        OSError: the file can no longer be read.

    """
    with open_seekable(source.path, size) as log:
        if not log:
            raise OSError("it was replaced while it was read")
        return LogScan(select_from_scans(scans, log, prefilter, budget, log.size), log.damage(), None)


def _scan_blocks(
    log: SeekableLog,
    start: int,
    end: int,
    scanner: BlockScanner,
    budget: SamplingBudget,
    progress: OffsetCallback,
) -> Iterator[BlockScan]:
    for offset in log.blocks(start, end, scanner.buffer):
        yield scanner.scan(scanner.buffer, offset, budget.spacing(log.size))
        progress(offset + len(scanner.buffer))
