"""A survey of a log: it is gone through from end to end, and what is to be read of it is chosen.

One that can be read at any place may be looked through in parts, by several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from analyzer.ingest.logs.text import Utf8
from analyzer.ingest.scan.blocks import Block, Scanner
from analyzer.ingest.scan.line_selection import WHOLE, SamplingBudget, Selection, choose, select
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.seekable_log import PlainLog, plain_log
from analyzer.model.run import Source
from analyzer.storage.decompress import Parts

LARGE = 4 << 20
"""Bytes from which on a log is surveyed while others are."""


class Survey(NamedTuple):
    """What is to be read of a log, and what is wrong with it as a file and as a text."""

    selection: Selection
    damage: str
    broken_at: int | None


class Part(NamedTuple):
    """A part of a log in the first `size` bytes of a file: the blocks that begin between two places."""

    size: int
    start: int
    end: int


def survey(
    source: Source,
    prefilter: Callable[[], Prefilter],
    watch: Callable[[int], None],
    budget: SamplingBudget,
) -> Survey:
    """Go through a log from end to end.

    Raises:
        OSError: the file cannot be read, or what it was packed with is broken.

    """
    with plain_log(source.path) as log:
        if log and log.size > WHOLE:
            known = prefilter()
            found = _looked_through(log, 0, log.size, Scanner(known), budget, watch)
            return Survey(choose(found, log, known, budget, log.size), log.damage(), None)
    parts = Parts(source.path)
    text = Utf8(parts)
    selection = select(text, prefilter, source.path.stat().st_size, watch, budget)
    return Survey(selection, parts.damage, text.broken_at)


def divisible(source: Source) -> int:
    """The bytes of a file whose log may be looked through in parts; 0 of any other one."""
    try:
        with plain_log(source.path) as log:
            return log.first if log and log.size > WHOLE else 0
    except OSError:
        return 0


def look_through(
    source: Source, part: Part, scan: Scanner, budget: SamplingBudget, watch: Callable[[int], None]
) -> list[Block]:
    """What stands in a part of a log.

    Raises:
        OSError: the file cannot be read.

    """
    with plain_log(source.path, part.size) as log:
        return list(_looked_through(log, part.start, part.end, scan, budget, watch)) if log else []


def conclude(
    source: Source, size: int, found: Iterable[Block], prefilter: Prefilter, budget: SamplingBudget
) -> Survey:
    """The survey of a log in the first `size` bytes of a file, all parts of which were looked through.

    Raises:
        OSError: the file cannot be read any more.

    """
    with plain_log(source.path, size) as log:
        if not log:
            raise OSError("it was replaced while it was read")
        return Survey(choose(found, log, prefilter, budget, log.size), log.damage(), None)


def _looked_through(
    log: PlainLog,
    start: int,
    end: int,
    scan: Scanner,
    budget: SamplingBudget,
    watch: Callable[[int], None],
) -> Iterator[Block]:
    for offset in log.blocks(start, end, scan.buffer):
        yield scan(scan.buffer, offset, budget.distance(log.size))
        watch(offset + len(scan.buffer))
