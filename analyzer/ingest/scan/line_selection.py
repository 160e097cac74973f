"""Selects the lines of a log to read: all lines of a small log, and the relevant ones of a large log.

Of a large log these are its head and tail, the lines around everything that the prefilter finds, and an even
sample in between for the curves. Of frequent expressions only the first and last occurrences are read, so
that time and memory of all later stages do not grow with the log.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from analyzer.ingest.scan.blocks import (
    BLOCK_BYTES,
    BlockScan,
    BlockScanner,
    LineHit,
    LogSlice,
    NewlineCounter,
    Sample,
    last_epoch_header,
    line_end,
    line_start,
    split_into_blocks,
)
from analyzer.ingest.scan.byte_stats import count_newlines, first_invalid_bytes
from analyzer.ingest.scan.prefilter import TRACEBACK, Prefilter
from analyzer.model.lazy_regex import lazy_regex

MAX_WHOLE_BYTES, MIN_WHOLE_BYTES = BLOCK_BYTES, 1 << 10
"""Bounds of the size up to which every line of a log is read."""
_WHOLE_BYTES_PER_RUN = 8 << 20
_EDGE_BYTES_PER_RUN, _MIN_EDGE_BYTES = 512 << 10, 256
_SAMPLES_PER_RUN, _MIN_SAMPLES = 4_096, 2
FIRST_HITS, LAST_HITS = 200, 60
"""Keep the first 200 hits of each expression and, after that, one per block up to the last 60."""
MAX_CONTEXT_BYTES = 24 << 20
"""Context bytes per log; once spent, only the first `HITS_OVER_LIMIT` hits of each expression are kept."""
HITS_OVER_LIMIT = 5

_CONTEXT_BEFORE = 1 << 10
_SLACK = 8
_CONTEXT_AFTER = 4 << 10
_CONTEXT_AFTER_TRACEBACK = 64 << 10
_MIN_SAMPLE_SPACING = 4 << 10
_NEXT_RECORD = lazy_regex(
    rb"[\n\r\x08](?=\d{4}-\d\d-\d\d|[IWEFD]\d{4} \d\d:|\s*\d+/\d+ "
    rb"|(?i:epoch|step|iter\w*)\W|(?:INFO|DEBUG)\b)"
)


class Sampling(NamedTuple):
    """How much of a large log is read besides the lines around hits."""

    whole: int = MAX_WHOLE_BYTES
    """Size in bytes up to which every line of a log is read."""
    edge: int = 32 << 10
    """Bytes of head and of tail in which every line is read."""
    samples: int = 256
    """Maximum number of sampled lines, evenly spaced."""

    def spacing(self, size: int) -> int:
        """Return the bytes from one sample to the next in a log of `size` bytes."""
        return max(_MIN_SAMPLE_SPACING, size // self.samples)


def sampling_for(sizes: Sequence[int]) -> Sampling:
    """Return how to sample logs of these sizes; the more large logs a run has, the less is read of each.

    So the amount that is read of all logs together grows with neither their number nor their size.
    """
    whole = min(MAX_WHOLE_BYTES, max(MIN_WHOLE_BYTES, _WHOLE_BYTES_PER_RUN // max(1, len(sizes))))
    large = max(1, sum(size > whole for size in sizes))
    share, usual = max(1, large // 2), Sampling()
    edge, samples = max(16 << 10, usual.edge // share), max(100, usual.samples // share)
    return Sampling(
        whole,
        max(_MIN_EDGE_BYTES, min(edge, _EDGE_BYTES_PER_RUN // large)),
        max(_MIN_SAMPLES, min(samples, _SAMPLES_PER_RUN // large)),
    )


class Selection(NamedTuple):
    """The lines of a log to read, in order, and properties of the whole log."""

    slices: list[LogSlice]
    bytes: int
    lines: int
    nul: int | None = None
    """Offset of the first NUL byte."""
    undecodable: int | None = None
    """Offset of the first byte that is not UTF-8."""
    thinned: str = ""
    """Which lines were left out, in words; empty if every line is read."""


class ByteSource(Protocol):
    """Read access to the bytes of a log, or to those of them that are held in memory."""

    def read(self, start: int, end: int, /) -> bytes:
        """Return the available bytes between two offsets."""
        ...


def no_progress(_offset: int) -> None:
    """Ignore the progress of reading; the default callback."""


def select_from_stream(
    parts: Iterable[bytes],
    prefilter: Callable[[], Prefilter],
    size: int,
    progress: Callable[[int], None],
    sampling: Sampling,
) -> Selection:
    """Select the lines to read of a log that can only be read once, from its beginning.

    `size` is its approximate length in bytes. `prefilter` is called only for a large log, `progress` after
    each block with the offset reached.
    """
    parts = iter(parts)
    first: list[bytes] = []
    held = 0
    while held <= sampling.whole:
        if (part := next(parts, None)) is None:
            return _select_all(b"".join(first))
        first.append(part)
        held += len(part)
    loaded, window = prefilter(), _SlidingWindow(sampling.edge)
    selector, scanner = LineSelector(loaded, sampling, sampling.spacing(size)), BlockScanner(loaded)
    for data in chain(split_into_blocks(chain(first, parts)), [b""]):
        if current := window.push(data):
            selector.add_block(scanner.scan(*current, selector.spacing), window)
            progress(selector.offset)
    return selector.selection(window)


def select_from_scans(
    scans: Iterable[BlockScan], log: ByteSource, prefilter: Prefilter, sampling: Sampling, size: int
) -> Selection:
    """Select the lines to read of a log of `size` bytes, given the scans of all its blocks in order."""
    selector = LineSelector(prefilter, sampling, sampling.spacing(size))
    for scan in scans:
        selector.add_block(scan, log)
    return selector.selection(log)


def _select_all(data: bytes) -> Selection:
    lines = count_newlines(data, 0, len(data)) + (not data.endswith(b"\n") and bool(data))
    return Selection([LogSlice(0, 1, data)], len(data), lines, *first_invalid_bytes(data))


class _SlidingWindow:
    """Window over input that cannot be read twice: the previous bytes, the current block and the next one."""

    def __init__(self, before: int) -> None:
        self._before = max(before, _CONTEXT_BEFORE + _SLACK)
        self._held: deque[tuple[int, bytes]] = deque()
        self._end = 0

    def push(self, following: bytes) -> tuple[bytes, int] | None:
        """Add the next block; return the one before it, now current, with its offset."""
        current = self._held[-1] if self._held else None
        if following:
            self._held.append((self._end, following))
            self._end += len(following)
        while current and len(self._held) > 1 and self._held[1][0] + self._before <= current[0]:
            self._held.popleft()
        return current and (current[1], current[0])

    def read(self, start: int, end: int) -> bytes:
        """Return the input from one byte offset to another, as far as the window holds it."""
        return b"".join(
            data[max(0, start - offset) : max(0, end - offset)]
            for offset, data in self._held
            if offset < end and start < offset + len(data)
        )


class LineSelector:
    """Goes through the block scans of a large log in order, and selects the lines to read."""

    def __init__(self, prefilter: Prefilter, sampling: Sampling, spacing: int) -> None:
        self.prefilter, self.sampling, self.spacing = prefilter, sampling, spacing
        self.offset, self.line = 0, 1
        self.chosen: list[LogSlice] = []
        self.head: LogSlice | None = None
        self.chosen_bytes = 0
        self.hits: Counter[int] = Counter()
        """Expression → number of its hits that were chosen."""
        self.most_hits = FIRST_HITS
        self.latest: dict[int, deque[LogSlice]] = {}
        self.samples: list[Sample] = []
        self.epoch: LogSlice | None = None
        self.nul: int | None = None
        self.undecodable: int | None = None

    def add_block(self, block: BlockScan, log: ByteSource) -> None:
        """Select lines of the next block."""
        self.head = self.head or self._head(log)
        self.nul = block.nul if self.nul is None else self.nul
        self.undecodable = block.undecodable if self.undecodable is None else self.undecodable
        if not all(self._is_spent(hit.expression) for hit in block.hits):
            self._choose_hits(block, log)
        for hit in block.hits:
            if self._is_spent(hit.expression):
                latest = self.latest.setdefault(hit.expression, deque(maxlen=LAST_HITS))
                latest.append(self._context(hit, log))
        self._add_samples(block)
        self.epoch = block.epoch.shifted(self.line) if block.epoch else self.epoch
        self.offset, self.line = block.end, self.line + block.newlines

    def _choose_hits(self, block: BlockScan, log: ByteSource) -> None:
        """Choose the lines around each hit in the block, up to the limit of hits per expression."""
        data, chosen_up_to = log.read(block.offset, block.end), -1
        lines = NewlineCounter(data)
        for number, end in self.prefilter.all_occurrences(data):
            if self._is_spent(number):
                continue
            self.hits[number] += 1
            if block.offset + end <= chosen_up_to and not self._is_traceback(number):
                continue
            hit = LineHit(number, block.offset + end, lines.before(end))
            context = self._context(hit, log)
            header = (
                last_epoch_header(data, hit.end - block.offset, block.offset, lines) if block.epoch else None
            )
            epoch = header.shifted(self.line) if header else self.epoch
            self.chosen += [epoch, context] if epoch else [context]
            chosen_up_to, self.chosen_bytes = context.end, self.chosen_bytes + len(context.data)
        if self.chosen_bytes > MAX_CONTEXT_BYTES:
            self.most_hits -= FIRST_HITS - HITS_OVER_LIMIT
            self.chosen_bytes = 0

    def _is_spent(self, expression: int) -> bool:
        return self.hits[expression] >= self.most_hits

    def _context(self, hit: LineHit, log: ByteSource) -> LogSlice:
        """Return the lines around a hit: some before it, and those after it up to the next record."""
        after = _CONTEXT_AFTER_TRACEBACK if self._is_traceback(hit.expression) else _CONTEXT_AFTER
        before = min(_CONTEXT_BEFORE, self.sampling.edge)
        low = max(0, hit.end - before - _SLACK)
        data = log.read(low, hit.end + after)
        at = hit.end - low
        start = data.find(b"\n", max(0, at - before), at) + 1 or line_start(data, at - 1)
        end = data.find(b"\n", at - 1)
        if end < 0:
            end = line_end(data, at, len(data))
        elif following := _NEXT_RECORD.search(data, end):
            end = following.start() + 1
        else:
            end = max(end, data.rfind(b"\n", at)) + 1
        line = self.line + hit.line - data.count(b"\n", start, at)
        return LogSlice(low + start, line, data[start:end])

    def _is_traceback(self, expression: int) -> bool:
        return self.prefilter.labels[expression] == TRACEBACK

    def _add_samples(self, block: BlockScan) -> None:
        for epoch, line in block.samples:
            above = epoch.shifted(self.line) if epoch else self.epoch
            self.samples.append(Sample(above, line.shifted(self.line)))
        if len(self.samples) > 2 * self.sampling.samples:
            self.samples = self.samples[::2]
            self.spacing *= 2

    def selection(self, log: ByteSource) -> Selection:
        """Return everything that was selected, in order, each byte once."""
        latest = [context for contexts in self.latest.values() for context in contexts]
        sampled = [line for sample in self.samples for line in sample]
        chosen = [self.head, *self.chosen, *latest, *sampled, self._tail(log)]
        slices = _merge_overlapping([chunk for chunk in chosen if chunk])
        lines = self.line - 1 + (log.read(self.offset - 1, self.offset) != b"\n")
        return Selection(slices, self.offset, lines, self.nul, self.undecodable, self._left_out())

    def _head(self, log: ByteSource) -> LogSlice:
        data = log.read(0, self.sampling.edge)
        return LogSlice(0, 1, data[: data.rfind(b"\n") + 1 or len(data)])

    def _tail(self, log: ByteSource) -> LogSlice:
        start = max(0, self.offset - self.sampling.edge)
        data = log.read(start, self.offset)
        cut = data.find(b"\n", 0, len(data) - 1) + 1
        return LogSlice(start + cut, self.line - data.count(b"\n", cut), data[cut:])

    def _left_out(self) -> str:
        words = (
            "sampled, for its size: its beginning and end, the lines around every searched text, "
            f"and one line in each {self.spacing:,} bytes between them"
        )
        frequent = any(self._is_spent(number) for number in self.hits)
        return words + "; of the most frequent texts, only some lines" * frequent


def _merge_overlapping(slices: list[LogSlice]) -> list[LogSlice]:
    """Sort slices by offset, and join those that touch or overlap."""
    merged: list[LogSlice] = []
    parts: list[bytes] = []
    end = -1
    for piece in sorted(slices):
        if piece.offset > end:
            if merged:
                merged[-1] = merged[-1]._replace(data=b"".join(parts))
            merged.append(piece)
            parts = [piece.data]
        elif piece.end > end:
            parts.append(piece.data[end - piece.offset :])
        end = max(end, piece.end)
    if merged:
        merged[-1] = merged[-1]._replace(data=b"".join(parts))
    return merged
