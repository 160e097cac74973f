"""What of a log is read, line by line: all of a small one, and of a large one what may matter.

Of a large log that is its head and its tail; every place where a scout finds something, with the lines
around it; and between them an even sample, for the curves. What occurs all the time is read at its first
places and its last. So the work behind this stage, and its memory, do not grow with the log.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from analyzer.ingest.packed import FIRST_PART
from analyzer.ingest.scout import TRACEBACK, Scout
from analyzer.ingest.signs import Signs, reader

WHOLE = FIRST_PART
"""Bytes of a log that is read from end to end."""
FIRST, LAST = 200, 60
"""Places at which one thing is read: the first ones, and of those behind them, one in a block, the last."""
MOST = 24 << 20
"""Bytes around places that are read of one log; beyond them `FEW` places are the first of each thing."""
FEW = 5

_LEAST_BLOCK = 256 << 10
_MOST_BLOCK = 2 << 20
_BEFORE = 1 << 10
_ROOM = 8
_AFTER = 4 << 10
_AFTER_TRACEBACK = 64 << 10
_SAMPLE_EVERY = 4 << 10
_LONGEST_SAMPLE = 1 << 10
_BREAKS = (b"\n", b"\r", b"\x08")
_BREAK = re.compile(rb"[\n\r\x08]")
_BEGINS = re.compile(
    rb"[\n\r\x08](?=\d{4}-\d\d-\d\d|[IWEFD]\d{4} \d\d:|\s*\d+/\d+ "
    rb"|(?i:epoch|step|iter\w*)\W|(?:INFO|DEBUG)\b)"
)


class Stretch(NamedTuple):
    """Some lines of a log that stand together: the byte and the line at which they begin, and their bytes."""

    offset: int
    line: int
    data: bytes

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.offset + len(self.data)


class Room(NamedTuple):
    """How much is read of a large log beside the places that matter."""

    edge: int = 32 << 10
    """Bytes of head and tail that are read from end to end."""
    samples: int = 256
    """Samples that are kept at most, at even distances."""


def room(logs: int) -> Room:
    """The room of each of some large logs: of many, less of each, so that all together take no longer."""
    share = max(1, logs // 2)
    return Room(max(16 << 10, Room().edge // share), max(100, Room().samples // share))


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


def unwatched(_offset: int) -> None:
    """Nobody wants to know how far a log has been read."""


def select(
    parts: Iterable[bytes],
    scout: Callable[[], Scout],
    size: int,
    watch: Callable[[int], None],
    room: Room,
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
    remaining = blocks(chain(first, parts))
    block, following = next(remaining, b""), next(remaining, b"")
    selector = _Selector(scout(), size, room)
    while block:
        selector.take(block, following)
        watch(selector.offset)
        block, following = following, next(remaining, b"")
    return selector.selection()


def _whole(data: bytes) -> Selection:
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    nul = data.find(b"\0")
    return Selection([Stretch(0, 1, data)], len(data), lines, None if nul < 0 else nul, _undecodable(data))


def _undecodable(data: bytes) -> int | None:
    """Where the first bytes stand that are no UTF-8."""
    if data.isascii():
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


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
        if not cut and size >= _MOST_BLOCK:
            part = b"".join(held)
            held, cut = [part], _between_signs(part)
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


def _between_signs(data: bytes) -> int:
    """The last place at which no sign of UTF-8 is cut in two."""
    ends = (at for at in range(len(data) - 1, len(data) - 5, -1) if data[at] & 0xC0 != 0x80)
    return next(ends, len(data))


class _Block:
    """A block of a log, with the bytes before and behind it that lines around a place may reach into."""

    def __init__(
        self, data: bytes, offset: int, line: int, before: bytes, following: bytes, signs: Signs
    ) -> None:
        self.data, self.offset, self.line = data, offset, line
        self.before, self.following = before, following
        self._newlines = signs.newlines
        self._counted = [(0, 0)]
        """Places, in order, and the newlines before each."""

    @property
    def next_line(self) -> int:
        """The line that the next block begins with."""
        return self._line(len(self.data))

    def piece(self, start: int, end: int) -> Stretch:
        """The bytes between two places of the block."""
        return Stretch(self.offset + start, self._line(start), self.data[start:end])

    def _line(self, place: int) -> int:
        """The line that holds a place; newlines are counted from the next one before it that was counted."""
        behind = bisect_right(self._counted, (place, len(self.data)))
        point, before = self._counted[behind - 1]
        if place > point:
            before += self._newlines(point, place)
            self._counted.insert(behind, (place, before))
        return self.line + before

    def around(self, place: int, traceback: bool) -> Stretch:
        """The lines around a place: some before it, and behind it up to where something else begins."""
        low, high = place - _BEFORE - _ROOM, place + (_AFTER_TRACEBACK if traceback else _AFTER)
        text = self._between(low, high)
        low = max(low, -len(self.before))
        at = place - low
        start = text.find(b"\n", max(0, at - _BEFORE), at) + 1 or _last_break(text, at - 1)
        end = text.find(b"\n", at - 1)
        if end < 0:
            end = _next_break(text, at, len(text))
        elif begins := _BEGINS.search(text, end):
            end = begins.start() + 1
        else:
            end = max(end, text.rfind(b"\n", at)) + 1
        if low + start >= 0:
            first = low + start
            return self.piece(first, min(low + end, len(self.data)))._replace(data=text[start:end])
        line = self.line - text.count(b"\n", start, -low)
        return Stretch(self.offset + low + start, line, text[start:end])

    def _between(self, low: int, high: int) -> bytes:
        """Bytes of the block, and of those before and behind it where the places lie there."""
        within = self.data[max(0, low) : high]
        if low >= 0 and high <= len(self.data):
            return within
        before = self.before[low:] if low < 0 else b""
        return before + within + self.following[: max(0, high - len(self.data))]

    def epoch(self, before: int) -> Stretch | None:
        """The last line before a place that says which epoch begins."""
        begin = self.data.rfind(b"Epoch ", 0, max(before, 0))
        if begin < 0:
            return None
        start = _last_break(self.data, begin)
        return self.piece(start, _next_break(self.data, begin, begin + _LONGEST_SAMPLE))

    def sample(self, at: int) -> Stretch:
        """The line that holds a place."""
        start = _last_break(self.data, at)
        return self.piece(start, _next_break(self.data, at, at + _LONGEST_SAMPLE))


class _Selector:
    """Goes through a large log once, block by block."""

    def __init__(self, scout: Scout, size: int, room: Room) -> None:
        self.scout, self.room = scout, room
        self.offset, self.line, self.before = 0, 1, b""
        self.head: Stretch | None = None
        self.edges: deque[Stretch] = deque()
        self.chosen: list[Stretch] = []
        self.size = 0
        self.left = dict.fromkeys(range(len(scout.names)), FIRST)
        self.latest: dict[int, deque[Stretch]] = {}
        self.samples: list[tuple[Stretch | None, Stretch]] = []
        self.distance = max(_SAMPLE_EVERY, size // room.samples)
        self.signs = reader(size)
        self.epoch: Stretch | None = None
        self.nul: int | None = None
        self.undecodable: int | None = None

    def take(self, data: bytes, following: bytes) -> None:
        """Choose from one block; `following` is the next one."""
        signs = self.signs(data)
        self._note_damage(data, signs)
        block = _Block(data, self.offset, self.line, self.before, following[:_AFTER_TRACEBACK], signs)
        first = self.scout.first(data)
        has_epoch = any(found.what == self.scout.epoch for found in first)
        if any(self.left.get(found.what) for found in first):
            self._choose(block, has_epoch)
        for found in first:
            if self.left.get(found.what) == 0:
                place = block.around(found.end, self._is_traceback(found.what))
                self.latest.setdefault(found.what, deque(maxlen=LAST)).append(place)
        self._sample(block, has_epoch)
        if has_epoch:
            self.epoch = block.epoch(len(data)) or self.epoch
        self._keep_edges(Stretch(self.offset, self.line, data))
        self.offset, self.line, self.before = self.offset + len(data), block.next_line, data[-_BEFORE:]

    def _note_damage(self, data: bytes, signs: Signs) -> None:
        if self.nul is None and signs.nul:
            self.nul = self.offset + data.find(b"\0")
        if self.undecodable is None and signs.beyond_ascii:
            bad = _undecodable(data)
            self.undecodable = None if bad is None else self.offset + bad

    def _choose(self, block: _Block, has_epoch: bool) -> None:
        """Take the lines around every place of what has not been read often."""
        end = -1
        for found in self.scout.each(block.data):
            if not self.left.get(found.what):
                continue
            self.left[found.what] -= 1
            traceback = self._is_traceback(found.what)
            if block.offset + found.end <= end and not traceback:
                continue
            place = block.around(found.end, traceback)
            epoch = (block.epoch(found.end) if has_epoch else None) or self.epoch
            self.chosen += [epoch, place] if epoch else [place]
            end, self.size = place.end, self.size + len(place.data)
        if self.size > MOST:
            self.left = {what: max(0, left - FIRST + FEW) for what, left in self.left.items()}
            self.size = 0

    def _is_traceback(self, what: int) -> bool:
        return self.scout.names[what] == TRACEBACK

    def _sample(self, block: _Block, has_epoch: bool) -> None:
        """One line of the block at each even distance, with the line that says which epoch it lies in."""
        for at in range(-block.offset % self.distance, len(block.data), self.distance):
            epoch = (block.epoch(at) if has_epoch else None) or self.epoch
            self.samples.append((epoch, block.sample(at)))
        if len(self.samples) > 2 * self.room.samples:
            self.samples = self.samples[::2]
            self.distance *= 2

    def _keep_edges(self, stretch: Stretch) -> None:
        if self.head is None:
            cut = stretch.data.rfind(b"\n", 0, self.room.edge) + 1 or self.room.edge
            self.head = stretch._replace(data=stretch.data[:cut])
        self.edges.append(stretch)
        while sum(len(edge.data) for edge in self.edges) - len(self.edges[0].data) >= self.room.edge:
            self.edges.popleft()

    def selection(self) -> Selection:
        """Everything that was chosen, in order, each byte once."""
        latest = [stretch for places in self.latest.values() for stretch in places]
        sampled = [stretch for sample in self.samples for stretch in sample]
        chosen = [self.head, *self.chosen, *latest, *sampled, self._tail()]
        together = _merged([each for each in chosen if each])
        lines = self.line - 1 + (not self.edges[-1].data.endswith(b"\n"))
        return Selection(together, self.offset, lines, self.nul, self.undecodable, self._thinned())

    def _tail(self) -> Stretch:
        data, first = b"".join(edge.data for edge in self.edges), self.edges[0]
        cut = max(0, len(data) - self.room.edge)
        cut = data.find(b"\n", cut) + 1 or cut
        return Stretch(first.offset + cut, first.line + data.count(b"\n", 0, cut), data[cut:])

    def _thinned(self) -> str:
        often = sorted({self.scout.names[what] for what, left in self.left.items() if not left})
        words = (
            "read line by line: head and tail, every place that holds what is looked for, "
            f"and between them one line in each {self.distance:,} bytes"
        )
        if often:
            words += f"; not every place of what stands in very many: {', '.join(map(repr, often[:5]))}"
        return words


def _last_break(text: bytes, at: int) -> int:
    """Where the line that holds a byte begins, or the last state of a redrawn one; an endless one is cut."""
    least = max(0, at - _LONGEST_SAMPLE)
    last = max(text.rfind(sign, least, at) for sign in _BREAKS)
    return last + 1 if last >= 0 else least


def _next_break(text: bytes, at: int, most: int) -> int:
    """Behind the line that holds a byte, or the state of a redrawn one."""
    match = _BREAK.search(text, at, most)
    return match.end() if match else min(most, len(text))


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
