"""What of a log is read, line by line: all of a small one, and of a large one what may matter.

Of a large log that is its head and its tail; every place where a scout finds something, with the lines
around it; and between them an even sample, for the curves. What occurs all the time is read at its first
places and its last. So the work behind this stage, and its memory, do not grow with the log.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple, Protocol

from analyzer.ingest.scan.blocks import (
    BLOCK,
    Block,
    Lines,
    Place,
    Sample,
    Scanner,
    Stretch,
    blocks,
    epoch_before,
    last_break,
    next_break,
    placed,
)
from analyzer.ingest.scan.byte_stats import newlines, odd
from analyzer.ingest.scan.prefilter import TRACEBACK, Prefilter

WHOLE = BLOCK
"""Bytes of a log that is read from end to end."""
FIRST, LAST = 200, 60
"""Places at which one thing is read: the first ones, and of those behind them, one in a block, the last."""
MOST = 24 << 20
"""Bytes around places that are read of one log; beyond them `FEW` places are the first of each thing."""
FEW = 5

_BEFORE = 1 << 10
_ROOM = 8
_AFTER = 4 << 10
_AFTER_TRACEBACK = 64 << 10
_SAMPLE_EVERY = 4 << 10
_BEGINS = re.compile(
    rb"[\n\r\x08](?=\d{4}-\d\d-\d\d|[IWEFD]\d{4} \d\d:|\s*\d+/\d+ "
    rb"|(?i:epoch|step|iter\w*)\W|(?:INFO|DEBUG)\b)"
)


class SamplingBudget(NamedTuple):
    """How much is read of a large log beside the places that matter."""

    edge: int = 32 << 10
    """Bytes of head and tail that are read from end to end."""
    samples: int = 256
    """Samples that are kept at most, at even distances."""

    def distance(self, size: int) -> int:
        """Bytes from one sample to the next, of a log of that size."""
        return max(_SAMPLE_EVERY, size // self.samples)


def budget_for(logs: int) -> SamplingBudget:
    """The room of each of some large logs: of many, less of each, so that all together take no longer."""
    share = max(1, logs // 2)
    return SamplingBudget(
        max(16 << 10, SamplingBudget().edge // share), max(100, SamplingBudget().samples // share)
    )


class Selection(NamedTuple):
    """What is to be read of a log, in order, and what the whole of it is like."""

    stretches: list[Stretch]
    bytes: int
    lines: int
    nul: int | None = None
    """Where its first NUL byte stands."""
    undecodable: int | None = None
    """Where the first bytes stand that are no UTF-8."""
    thinned: str = ""
    """What was not read at all of its places; empty for a log that is read from end to end."""


class Text(Protocol):
    """The bytes of a log, as far as they can be had."""

    def read(self, start: int, end: int, /) -> bytes:
        """Those between two places that can be had."""
        ...


def unwatched(_offset: int) -> None:
    """Nobody wants to know how far a log has been read."""


def select(
    parts: Iterable[bytes],
    prefilter: Callable[[], Prefilter],
    size: int,
    watch: Callable[[int], None],
    budget: SamplingBudget,
) -> Selection:
    """What is to be read of a log of about `size` bytes; a large one calls for a scout, and `watch` often."""
    parts = iter(parts)
    first: list[bytes] = []
    held = 0
    while held <= WHOLE:
        if (part := next(parts, None)) is None:
            return _whole(b"".join(first))
        first.append(part)
        held += len(part)
    known, window = prefilter(), _Window(budget.edge)
    selector, scan = Selector(known, budget, budget.distance(size)), Scanner(known)
    for data in blocks(chain(first, parts)):
        if passed := window.take(data):
            selector.take(scan(*passed, selector.distance), window)
            watch(selector.offset)
    if passed := window.take(b""):
        selector.take(scan(*passed, selector.distance), window)
    return selector.selection(window)


def choose(
    found: Iterable[Block], text: Text, prefilter: Prefilter, budget: SamplingBudget, size: int
) -> Selection:
    """What is to be read of a log of that size, all blocks of which were looked through."""
    selector = Selector(prefilter, budget, budget.distance(size))
    for block in found:
        selector.take(block, text)
    return selector.selection(text)


def _whole(data: bytes) -> Selection:
    lines = newlines(data, 0, len(data)) + (not data.endswith(b"\n") and bool(data))
    return Selection([Stretch(0, 1, data)], len(data), lines, *odd(data))


class _Window:
    """The text around a block of what is read but once: some bytes before it, and all of the next one."""

    def __init__(self, before: int) -> None:
        self._before = max(before, _BEFORE + _ROOM)
        self._held: deque[tuple[int, bytes]] = deque()
        self._end = 0

    def take(self, following: bytes) -> tuple[bytes, int] | None:
        """Take the next block, and give the one before it, which has all around it now, and its offset."""
        passed = self._held[-1] if self._held else None
        if following:
            self._held.append((self._end, following))
            self._end += len(following)
        while passed and len(self._held) > 1 and self._held[1][0] + self._before <= passed[0]:
            self._held.popleft()
        return passed and (passed[1], passed[0])

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two places, or those of them that are held."""
        return b"".join(
            data[max(0, start - offset) : max(0, end - offset)]
            for offset, data in self._held
            if offset < end and start < offset + len(data)
        )


class Selector:
    """Goes through what stands in a large log, block by block, and chooses what is read of it."""

    def __init__(self, prefilter: Prefilter, budget: SamplingBudget, distance: int) -> None:
        self.prefilter, self.budget, self.distance = prefilter, budget, distance
        self.offset, self.line = 0, 1
        self.chosen: list[Stretch] = []
        self.head: Stretch | None = None
        self.size = 0
        self.left = dict.fromkeys(range(len(prefilter.names)), FIRST)
        self.latest: dict[int, deque[Stretch]] = {}
        self.samples: list[Sample] = []
        self.epoch: Stretch | None = None
        self.nul: int | None = None
        self.undecodable: int | None = None

    def take(self, block: Block, text: Text) -> None:
        """Choose from one block."""
        self.head = self.head or self._head(text)
        self.nul = block.nul if self.nul is None else self.nul
        self.undecodable = block.undecodable if self.undecodable is None else self.undecodable
        if any(self.left[place.what] for place in block.found):
            self._choose(block, text)
        for place in block.found:
            if not self.left[place.what]:
                around = self._around(place, text)
                self.latest.setdefault(place.what, deque(maxlen=LAST)).append(around)
        self._sample(block)
        self.epoch = block.epoch.moved(self.line) if block.epoch else self.epoch
        self.offset, self.line = block.end, self.line + block.newlines

    def _choose(self, block: Block, text: Text) -> None:
        """Take the lines around every place of what has not been read often."""
        data, end = text.read(block.offset, block.end), -1
        lines = Lines(data)
        for place in placed(self.prefilter.each(data), block.offset, lines):
            if not self.left[place.what]:
                continue
            self.left[place.what] -= 1
            if place.end <= end and not self._is_traceback(place.what):
                continue
            around = self._around(place, text)
            own = epoch_before(data, place.end - block.offset, block.offset, lines) if block.epoch else None
            epoch = own.moved(self.line) if own else self.epoch
            self.chosen += [epoch, around] if epoch else [around]
            end, self.size = around.end, self.size + len(around.data)
        if self.size > MOST:
            self.left = {what: max(0, left - FIRST + FEW) for what, left in self.left.items()}
            self.size = 0

    def _around(self, place: Place, text: Text) -> Stretch:
        """The lines around a place: some before it, and behind it up to where something else begins."""
        traceback = self._is_traceback(place.what)
        low = max(0, place.end - _BEFORE - _ROOM)
        data = text.read(low, place.end + (_AFTER_TRACEBACK if traceback else _AFTER))
        at = place.end - low
        start = data.find(b"\n", max(0, at - _BEFORE), at) + 1 or last_break(data, at - 1)
        end = data.find(b"\n", at - 1)
        if end < 0:
            end = next_break(data, at, len(data))
        elif begins := _BEGINS.search(data, end):
            end = begins.start() + 1
        else:
            end = max(end, data.rfind(b"\n", at)) + 1
        line = self.line + place.line - data.count(b"\n", start, at)
        return Stretch(low + start, line, data[start:end])

    def _is_traceback(self, what: int) -> bool:
        return self.prefilter.names[what] == TRACEBACK

    def _sample(self, block: Block) -> None:
        for epoch, line in block.samples:
            above = epoch.moved(self.line) if epoch else self.epoch
            self.samples.append(Sample(above, line.moved(self.line)))
        if len(self.samples) > 2 * self.budget.samples:
            self.samples = self.samples[::2]
            self.distance *= 2

    def selection(self, text: Text) -> Selection:
        """Everything that was chosen, in order, each byte once."""
        latest = [stretch for places in self.latest.values() for stretch in places]
        sampled = [stretch for sample in self.samples for stretch in sample]
        chosen = [self.head, *self.chosen, *latest, *sampled, self._tail(text)]
        together = _merged([each for each in chosen if each])
        lines = self.line - 1 + (text.read(self.offset - 1, self.offset) != b"\n")
        return Selection(together, self.offset, lines, self.nul, self.undecodable, self._thinned())

    def _head(self, text: Text) -> Stretch:
        data = text.read(0, self.budget.edge)
        return Stretch(0, 1, data[: data.rfind(b"\n") + 1 or len(data)])

    def _tail(self, text: Text) -> Stretch:
        start = max(0, self.offset - self.budget.edge)
        data = text.read(start, self.offset)
        cut = data.find(b"\n") + 1
        return Stretch(start + cut, self.line - data.count(b"\n", cut), data[cut:])

    def _thinned(self) -> str:
        often = sorted({self.prefilter.names[what] for what, left in self.left.items() if not left})
        words = (
            "read line by line: head and tail, every place that holds what is looked for, "
            f"and between them one line in each {self.distance:,} bytes"
        )
        if often:
            words += f"; not every place of what stands in very many: {', '.join(map(repr, often[:5]))}"
        return words


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    """Stretches in order, those that touch or overlap as one."""
    merged: list[Stretch] = []
    parts: list[bytes] = []
    end = -1
    for stretch in sorted(stretches):
        if stretch.offset > end:
            if merged:
                merged[-1] = merged[-1]._replace(data=b"".join(parts))
            merged.append(stretch)
            parts = [stretch.data]
        elif stretch.end > end:
            parts.append(stretch.data[end - stretch.offset :])
        end = max(end, stretch.end)
    if merged:
        merged[-1] = merged[-1]._replace(data=b"".join(parts))
    return merged
