"""Profiler traces (`*.xplane.pb`) → the spans that tell who waited for whom.

An XSpace is planes, a plane is lines (threads), a line is events. Their frames are walked here and each line
is decoded by itself, so that a cut costs only what lay behind it, and memory is one line beside the file.
Nine events in ten are of no interest: which ones, their first bytes tell, and they are never decoded.
An operation that was begun and not finished leaves no event of its own, only the executor's note that it
was begun: from that note come the open spans.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from analyzer.ingest.profiler.span_kinds import NOTES, computes, kind_of, kind_of_operation
from analyzer.ingest.profiler.xplane_pb2 import Brief, Entry, Event, RawLine, Stat
from analyzer.ingest.tensorboard.event_files import Damage
from analyzer.tables.intervals import union

_Message = Any
"""A protobuf message; the generated code carries no types."""

_EPOCH = 10**17
"""Nanoseconds; a time below this (1973) counts from the start of the profile, not of the epoch."""
_KEY = 3
"""The first bytes of an event, which hold its number, where that is less than 16,384."""
_NOTE_KINDS = frozenset(NOTES.values())
_BREATH = 20_000
"""Nanoseconds between two operations that still count as one stretch of computing."""


class Span(NamedTuple):
    """One interval on one thread of a worker.

    `kind` is collective, step, function (a call of a tf.function, the step of a custom loop), input, copy,
    compile or compute. Of computing there is no span for each operation, but one for each stretch of a plane
    in which any thread computes. Times are nanoseconds since the epoch where `Trace.absolute`, else since the
    profile began; `end_ns` is None while it was still open. `instance` is a collective's instance key, the
    same on all workers for the same collective. `step` is the number of the step it lies in, where the trace
    has one.
    """

    kind: str
    name: str
    start_ns: int
    end_ns: int | None
    thread: str
    plane: str
    step: int | None = None
    instance: int | None = None


class Plane(NamedTuple):
    """A summary of one plane: a host or a device."""

    name: str
    lines: int
    events: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What one trace holds; `spans` are in order of start."""

    planes: list[Plane] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    absolute: bool = False
    """Whether times count from the epoch."""
    start_ns: int | None = None
    stop_ns: int | None = None
    """When profiling began and ended, since the epoch.

    TensorFlow 2.15 writes neither. There the start is taken from tf.data's prefetching, which numbers its
    elements by the clock in nanoseconds as it begins them: within 5 µs where both could be compared.
    """


_TEXT = re.compile(rb"[\t\n\r\x20-\xff]*")
SPACE = {1: 2, 2: 2, 3: 2, 4: 2}
PLANE = {1: 0, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}
"""Fields of the two outer messages, and how each is written. There are no checksums: others are damage."""
"""When something began and ended, in nanoseconds."""


class _Field(NamedTuple):
    number: int
    value: int | memoryview
    offset: int
    length: int


@dataclass(slots=True)
class _Names:
    """What the numbers of one plane mean."""

    events: dict[int, str] = field(default_factory=dict)
    stats: dict[int, str] = field(default_factory=dict)
    device: bool = False
    decided: dict[int, str | None] = field(default_factory=dict)
    kinds: dict[bytes, str | None] = field(default_factory=dict)
    """The same by the first bytes of an event."""
    unnamed: set[int] = field(default_factory=set)

    def stat(self, stats: Iterable[_Message]) -> dict[str, Any]:
        """Stats by name; a reference is replaced by what it refers to."""
        found = {}
        for stat in stats:
            which = stat.WhichOneof("value")
            value = getattr(stat, which) if which else None
            if which == "ref_value":
                value = self.stats.get(value or 0)
            found[self.stats.get(stat.metadata_id, "")] = value
        return found


def read_trace(path: Path) -> Trace:
    """The spans of a trace and a summary of its planes.

    Bad bytes never raise: they are damage, and all lines that could be decoded are kept. A trace without
    one event is damage too, for it says nothing about the run.

    Raises:
        OSError: the file cannot be read.

    """
    data = path.read_bytes()
    reader = _Reader()
    reader.read(memoryview(data))
    start = reader.start()
    spans = [_moved(span, start or 0) for span in with_steps(reader.spans + reader.open())]
    absolute = bool(spans) and all(span.start_ns >= _EPOCH for span in spans)
    if not any(plane.events for plane in reader.planes) and not reader.damage:
        reader.damage.append(Damage(0, len(data), "the trace holds no event"))
    return Trace(reader.planes, spans, reader.damage, absolute, start, reader.times.get("profile_stop_time"))


class _Reader:
    def __init__(self) -> None:
        self.planes: list[Plane] = []
        self.spans: list[Span] = []
        self.damage: list[Damage] = []
        self.times: dict[str, int] = {}
        self.begun: dict[tuple[int, str], list[Span]] = {}
        self.ended: Counter[tuple[int, str, str]] = Counter()
        self.clocks: list[int] = []

    def read(self, budget: memoryview) -> None:
        cut = _cut_plane(budget)
        for part in self._fields(budget[: cut.offset] if cut else budget, 0, SPACE):
            if isinstance(part.value, int):
                continue
            if part.number == 1:
                self._plane(part.value, part.offset)
            elif not _TEXT.fullmatch(bytes(part.value)):
                self._lost(part.offset, part.length, "a message of the profiler that is no text")
        if cut:
            found = len(self.damage)
            self._plane(budget[cut.value :], cut.value)
            if len(self.damage) == found:
                self._lost(len(budget), 0, "the trace is cut short")

    def start(self) -> int | None:
        """When the profile began, in nanoseconds since the epoch, where anything tells."""
        told = self.times.get("profile_start_time")
        return told if told or not self.clocks else int(median(self.clocks))

    def open(self) -> list[Span]:
        """Operations that the executor began and of which no end was seen."""
        left = []
        for (run, name), spans in self.begun.items():
            ended = max(self.ended[run, name, "event"], self.ended[run, name, "done"])
            left += spans[ended:]
        return left

    def _plane(self, plane: memoryview, offset: int) -> None:
        names, lines, stats, name = _Names(), [], [], ""
        for part in self._fields(plane, offset, PLANE):
            if not isinstance(part.value, memoryview):
                continue
            if part.number == 2:
                if name:
                    self._lost(part.offset, part.length, f"{name} has a second name, of other bytes")
                name = name or bytes(part.value).decode(errors="replace")
            elif part.number == 3:
                lines.append(part)
            elif part.number in (4, 5) and (entry := self._parsed(Entry, part)) is not None:
                known = names.events if part.number == 4 else names.stats
                known[entry.key] = entry.value.name.decode(errors="replace")
            elif part.number == 6 and (stat := self._parsed(Stat, part)) is not None:
                stats.append(stat)
        self.times |= {k: v for k, v in names.stat(stats).items() if isinstance(v, int)}
        if lines and not names.events:
            first, last = lines[0], lines[-1]
            self._lost(
                first.offset, last.offset + last.length - first.offset, f"nothing names what {name} did"
            )
            lines = []
        names.device = name.startswith("/device:")
        work: list[tuple[int, int]] = []
        events = sum(self._line(line, names, name, work) for line in lines)
        self.spans += [Span("compute", "", start, end, "", name) for start, end in union(work, _BREATH)]
        self.planes.append(Plane(name, len(lines), events))

    def _line(self, part: _Field, names: _Names, plane: str, work: list[tuple[int, int]]) -> int:
        """Takes the spans of one line, and when it computes; the number of its events."""
        line = self._parsed(RawLine, part)
        if line is None:
            return 0
        thread = (line.display_name or line.name).decode(errors="replace")
        works = computes(thread, names.device)
        place = (line.timestamp_ns, thread, plane)
        own: list[tuple[int, int]] = []
        events, unnamed, broken = line.events, len(names.unnamed), 0
        kinds = names.kinds
        for raw in events:
            kind = kinds.get(raw[:_KEY], "?")
            if kind is None:
                continue
            try:
                if kind == "?":
                    kind = self._kind(raw, names)
                if kind == "compute" and works:
                    brief = Brief.FromString(raw)
                    start = line.timestamp_ns + brief.offset_ps // 1000
                    own.append((start, start + brief.duration_ps // 1000))
                elif kind is not None and kind != "compute":
                    self._event(Event.FromString(raw), kind, names, place)
            except DecodeError:
                broken += 1
        work += union(own, _BREATH)
        if unnamed := len(names.unnamed) - unnamed:
            self._lost(part.offset, part.length, f"{unnamed} kinds of events of {thread} have no name")
        if broken:
            self._lost(part.offset, part.length, f"{broken} events of {thread} are no Event of a trace")
        return len(events)

    def _kind(self, raw: bytes, names: _Names) -> str | None:
        """What this event is; kept under its first bytes, where they hold its whole number."""
        event = Event.FromString(raw)
        number = event.metadata_id
        name = names.events.get(number, "")
        if number not in names.events:
            names.unnamed.add(number)
        if number not in names.decided:
            names.decided[number] = kind_of(name, names.stat(event.stats), names.device)
        if raw[:1] == b"\x08" and min(raw[1:_KEY], default=0x80) < 0x80:
            names.kinds[raw[:_KEY]] = names.decided[number]
        return names.decided[number]

    def _event(self, event: _Message, kind: str, names: _Names, place: tuple[int, str, str]) -> None:
        stats = names.stat(event.stats)
        base, thread, plane = place
        start = base + event.offset_ps // 1000
        name, run = names.events.get(event.metadata_id, ""), stats.get("step_id", 0)
        if kind in _NOTE_KINDS:
            self._note(kind, stats, Span(kind, name, start, None, thread, plane))
            return
        self.ended[run, name, "event"] += 1
        end = start + event.duration_ps // 1000
        step, instance = whole_number(stats.get("step_num")), whole_number(stats.get("instance_key"))
        self.spans.append(Span(kind, name, start, end, thread, plane, step, instance))

    def _note(self, note: str, stats: dict[str, Any], at: Span) -> None:
        """What the executor and tf.data say about the work of others."""
        if note == "clock":
            element = whole_number(stats.get("element_id")) or 0
            self.clocks += [element - at.start_ns] if at.start_ns < _EPOCH < element else []
            return
        op = _text(stats.get("kernel_type"))
        name, run = f"{_text(stats.get('name'))}:{op}", stats.get("step_id", 0)
        if note == "done":
            self.ended[run, name, "done"] += 1
        elif (kind := kind_of_operation(op)) is not None:
            self.begun.setdefault((run, name), []).append(at._replace(kind=kind, name=name))

    def _parsed(self, message: _Message, part: _Field) -> _Message:
        try:
            return message.FromString(bytes(part.value))
        except DecodeError:
            self._lost(part.offset, part.length, f"bytes that are no {message.DESCRIPTOR.name} of a trace")
            return None

    def _fields(self, data: memoryview, offset: int, known: Mapping[int, int]) -> Iterator[_Field]:
        """The fields of a message, as far as they are whole; `offset` is its own place in the file."""
        pos = 0
        while pos < len(data):
            try:
                part, end = field_at(data, pos, known)
            except (IndexError, ValueError) as error:
                what = "the trace is cut short" if isinstance(error, IndexError) else "not a profiler trace"
                return self._lost(offset + pos, len(data) - pos, what)
            if part.number in known:
                yield part._replace(offset=offset + part.offset)
            else:
                self._lost(offset + pos, end - pos, f"a field {part.number}, which no trace has")
            pos = end

    def _lost(self, offset: int, length: int, what: str) -> None:
        self.damage.append(Damage(offset, length, what))


class _Cut(NamedTuple):
    """Where a plane begins that the file does not hold to its end, and where its contents do."""

    offset: int
    value: int


def _cut_plane(budget: memoryview) -> _Cut | None:
    """The plane that the end of the file cuts, where it ends within one."""
    pos = 0
    try:
        while pos < len(budget):
            _, pos = field_at(budget, pos, SPACE)
    except IndexError:
        with suppress(IndexError, ValueError):
            tag, at = _varint(budget, pos)
            _, at = _varint(budget, at)
            return _Cut(pos, at) if tag == 1 << 3 | 2 and at < len(budget) else None
    except ValueError:
        return None
    return None


def field_at(data: memoryview, pos: int, known: Mapping[int, int]) -> tuple[_Field, int]:
    """The field at `pos` and where the next begins.

    Raises:
        IndexError: the data ends inside the field.
        ValueError: no field of a trace looks like this.

    """
    tag, pos = _varint(data, pos)
    number, wire = tag >> 3, tag & 7
    if wire != known.get(number, 2):
        raise ValueError(tag)
    if wire == 0:
        value, end = _varint(data, pos)
        return _Field(number, value, pos, end - pos), end
    if not 0 < number < 16:
        raise ValueError(tag)
    length, pos = _varint(data, pos)
    if pos + length > len(data):
        raise IndexError(length)
    return _Field(number, data[pos : pos + length], pos, length), pos + length


def _varint(data: memoryview, pos: int) -> tuple[int, int]:
    value = 0
    for index in range(10):
        byte = data[pos + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, pos + index + 1
    raise ValueError(value)


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")


def whole_number(value: object) -> int | None:
    """A stat that is a number; None where it is none."""
    text = _text(value) if isinstance(value, bytes) else value
    try:
        return None if text is None else int(text)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None


def with_steps(spans: list[Span]) -> Iterator[Span]:
    """Spans in order of start, each given the step that was under way when it began."""
    current: Span | None = None
    for span in sorted(spans, key=lambda span: span.start_ns):
        if span.kind == "step" and span.step is not None:
            current = span
        inside = current is not None and span.start_ns <= (current.end_ns or span.start_ns)
        yield span._replace(step=current.step) if inside and current and span.step is None else span


def _moved(span: Span, shift: int) -> Span:
    end = None if span.end_ns is None else span.end_ns + shift
    return span._replace(start_ns=span.start_ns + shift, end_ns=end)
