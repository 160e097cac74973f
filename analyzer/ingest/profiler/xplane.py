"""Profiler traces (`*.xplane.pb`) → the spans that show which worker waited for which.

An XSpace holds planes, a plane holds lines (threads), a line holds events. Their fields are walked here and
each line is decoded on its own, so that truncation loses only what follows it, and one line
is held in memory. Nine events in ten are irrelevant: recognised by their first bytes, they are not decoded.
An unfinished operation has no event of its own, only the executor's event of its start; open spans come
from those.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from google.protobuf.message import DecodeError

from analyzer.ingest.profiler.file_window import FileBlocks, FileWindow
from analyzer.ingest.profiler.protobuf_fields import PLANE, SPACE, Field, cut_plane, field_at
from analyzer.ingest.profiler.span_kinds import NOTES, computes, kind_of, kind_of_operation
from analyzer.ingest.profiler.spans import (
    MAX_SPANS,
    Span,
    Trace,
    shifted,
    spans_left_out,
    stat_text,
    whole_number,
    with_steps,
)
from analyzer.ingest.profiler.xplane_pb2 import Brief, Entry, Event, RawLine, Stat
from analyzer.ingest.tensorboard.event_files import Damage
from analyzer.model.budget import Budget, OverBudgetError
from analyzer.tables.intervals import union

_Message = Any
"""A protobuf message; the generated code carries no types."""

_MIN_EPOCH_NS = 10**17
"""A smaller time (before 1973) counts from the start of the profile instead of the epoch."""
_KEY_BYTES = 3
"""First bytes of an event; they hold its metadata id if that is less than 16,384."""
_NOTE_KINDS = frozenset(NOTES.values())
_MAX_MESSAGE_BYTES = 24 << 20
"""Size limit for the events of one thread, which take ten times as much in memory."""
_MAX_GAP_NS = 20_000
"""Longest gap between two operations that count as one span of computing."""
_TEXT = re.compile(rb"[\t\n\r\x20-\xff]*")


class _PlaneNames:
    """Names of the events and stats of one plane by metadata id, and the kinds of its events."""

    def __init__(self) -> None:
        self.events: dict[int, str] = {}
        self.stats: dict[int, str] = {}
        self.device = False
        self.kinds: dict[int, str | None] = {}
        self.kinds_by_key: dict[bytes, str | None] = {}
        """Kinds by the first bytes of an event."""
        self.unnamed: set[int] = set()

    def resolve(self, stats: Iterable[_Message]) -> dict[str, Any]:
        """Return stats by name, with references resolved."""
        found = {}
        for stat in stats:
            kind = stat.WhichOneof("value")
            value = getattr(stat, kind) if kind else None
            if kind == "ref_value":
                value = self.stats.get(value or 0)
            found[self.stats.get(stat.metadata_id, "")] = value
        return found


def read_trace(path: Path, budget: Budget, limit: int = MAX_SPANS) -> Trace:
    """Return the first `limit` spans of a trace.

    Bad bytes become damage, never an exception, and all lines that can be decoded are kept. A trace without
    events is damage too, for it says nothing about the run.

    Raises:
        OSError: the file cannot be read.
    """
    reader = _Reader(limit)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            reader.read(FileWindow(FileBlocks(file.fileno(), budget), 0, size))
        except OverBudgetError as spent:
            reader.damage.append(Damage(0, None, str(spent)))
    start = reader.start()
    spans = [shifted(span, start or 0) for span in with_steps(reader.spans + reader.open_spans())]
    absolute = bool(spans) and all(span.start_ns >= _MIN_EPOCH_NS for span in spans)
    if not reader.left:
        reader.damage.append(spans_left_out(limit))
    if not reader.events and not reader.damage:
        reader.damage.append(Damage(0, size, "the trace holds no event"))
    stop = reader.times.get("profile_stop_time")
    return Trace(spans, reader.damage, absolute, reader.events, start, stop)


class _Reader:
    """Collects at most `limit` spans, and the clock readings and damage, of one XPlane file."""

    def __init__(self, limit: int) -> None:
        self.events = 0
        self.left = limit
        """Number of spans that may still be read."""
        self.spans: list[Span] = []
        self.damage: list[Damage] = []
        self.times: dict[str, int] = {}
        self.begun: dict[tuple[int, str], list[Span]] = {}
        self.ended: Counter[tuple[int, str, str]] = Counter()
        self.clocks: list[int] = []

    def read(self, space: FileWindow) -> None:
        cut = cut_plane(space)
        for part in self._fields(space[: cut[0]] if cut else space, 0, SPACE):
            if isinstance(part.value, int):
                continue
            if part.number == 1:
                self._read_plane(part.value, part.offset)
            elif not _TEXT.fullmatch(bytes(part.value[:_MAX_MESSAGE_BYTES])):
                self._add_damage(part.offset, part.length, "a message of the profiler that is not text")
        if cut:
            found = len(self.damage)
            self._read_plane(space[cut[1] :], cut[1])
            if len(self.damage) == found:
                self._add_damage(len(space), 0, "the trace is cut short")

    def start(self) -> int | None:
        """Return when the profile began, in nanoseconds since the epoch; None if unknown."""
        stated = self.times.get("profile_start_time")
        return stated if stated or not self.clocks else int(median(self.clocks))

    def open_spans(self) -> list[Span]:
        """Return the operations that the executor started and that did not end within the trace."""
        left = []
        for (run, name), spans in self.begun.items():
            ended = max(self.ended[run, name, "event"], self.ended[run, name, "done"])
            left += spans[ended:]
        return left

    def _read_plane(self, plane: FileWindow, offset: int) -> None:
        names, lines, stats, name = _PlaneNames(), [], [], ""
        for part in self._fields(plane, offset, PLANE):
            if not isinstance(part.value, FileWindow):
                continue
            if part.number == 2:
                if name:
                    self._add_damage(part.offset, part.length, f"{name} has a second name, of other bytes")
                name = name or bytes(part.value).decode(errors="replace")
            elif part.number == 3:
                lines.append(part)
            elif part.number in (4, 5) and (entry := self._parse(Entry, part)) is not None:
                known = names.events if part.number == 4 else names.stats
                known[entry.key] = entry.value.name.decode(errors="replace")
            elif part.number == 6 and (stat := self._parse(Stat, part)) is not None:
                stats.append(stat)
        self.times |= {k: v for k, v in names.resolve(stats).items() if isinstance(v, int)}
        if lines and not names.events:
            first, end = lines[0].offset, lines[-1].offset + lines[-1].length
            self._add_damage(first, end - first, f"nothing names what {name} did")
            lines = []
        names.device = name.startswith("/device:")
        work: list[tuple[int, int]] = []
        self.events += sum(self._read_line(line, names, name, work) for line in lines)
        self.spans += [Span("compute", "", start, end, "", name) for start, end in union(work, _MAX_GAP_NS)]

    def _read_line(self, part: Field, names: _PlaneNames, plane: str, work: list[tuple[int, int]]) -> int:
        """Read the spans of one line, add its computing intervals to `work`, and return its event count."""
        line = self._parse(RawLine, part)
        if line is None:
            return 0
        thread = (line.display_name or line.name).decode(errors="replace")
        works = computes(thread, names.device)
        place = (line.timestamp_ns, thread, plane)
        own: list[tuple[int, int]] = []
        events, unnamed, broken = line.events, len(names.unnamed), 0
        kinds = names.kinds_by_key
        for raw in events:
            kind = kinds.get(raw[:_KEY_BYTES], "?")
            if kind is None:
                continue
            try:
                if kind == "?":
                    kind = self._decide_kind(raw, names)
                if kind == "compute" and works:
                    brief = Brief.FromString(raw)
                    start = line.timestamp_ns + brief.offset_ps // 1000
                    own.append((start, start + brief.duration_ps // 1000))
                elif kind is not None and kind != "compute" and self.left:
                    self.left -= 1
                    self._read_event(Event.FromString(raw), kind, names, place)
            except DecodeError:
                broken += 1
        work += union(own, _MAX_GAP_NS)
        if unnamed := len(names.unnamed) - unnamed:
            self._add_damage(part.offset, part.length, f"{unnamed} kinds of events of {thread} have no name")
        if broken:
            self._add_damage(part.offset, part.length, f"{broken} events of {thread} are no Event of a trace")
        return len(events)

    def _decide_kind(self, raw: bytes, names: _PlaneNames) -> str | None:
        """Return the kind of an event; remember it for other events that begin with the same metadata id."""
        event = Event.FromString(raw)
        number = event.metadata_id
        name = names.events.get(number, "")
        if number not in names.events:
            names.unnamed.add(number)
        if number not in names.kinds:
            names.kinds[number] = kind_of(name, names.resolve(event.stats), names.device)
        if raw[:1] == b"\x08" and min(raw[1:_KEY_BYTES], default=0x80) < 0x80:
            names.kinds_by_key[raw[:_KEY_BYTES]] = names.kinds[number]
        return names.kinds[number]

    def _read_event(
        self, event: _Message, kind: str, names: _PlaneNames, place: tuple[int, str, str]
    ) -> None:
        stats = names.resolve(event.stats)
        base, thread, plane = place
        start = base + event.offset_ps // 1000
        name, run = names.events.get(event.metadata_id, ""), stats.get("step_id", 0)
        if kind in _NOTE_KINDS:
            self._read_note(kind, stats, Span(kind, name, start, None, thread, plane))
            return
        self.ended[run, name, "event"] += 1
        end = start + event.duration_ps // 1000
        step, instance = whole_number(stats.get("step_num")), whole_number(stats.get("instance_key"))
        self.spans.append(Span(kind, name, start, end, thread, plane, step, instance))

    def _read_note(self, note: str, stats: dict[str, Any], at: Span) -> None:
        """Read an event that tells that an operation began or ended (`done`), or that relates two clocks."""
        if note == "clock":
            element = whole_number(stats.get("element_id")) or 0
            self.clocks += [element - at.start_ns] if at.start_ns < _MIN_EPOCH_NS < element else []
            return
        op = stat_text(stats.get("kernel_type"))
        name, run = f"{stat_text(stats.get('name'))}:{op}", stats.get("step_id", 0)
        if note == "done":
            self.ended[run, name, "done"] += 1
        elif (kind := kind_of_operation(op)) is not None:
            self.begun.setdefault((run, name), []).append(at._replace(kind=kind, name=name))

    def _parse(self, message: _Message, part: Field) -> _Message:
        if part.length > _MAX_MESSAGE_BYTES:
            self._add_damage(part.offset, part.length, "a thread with too many events to be read")
            return None
        try:
            return message.FromString(bytes(part.value))
        except DecodeError:
            what = f"bytes that are no {message.DESCRIPTOR.name} of a trace"
            self._add_damage(part.offset, part.length, what)
            return None

    def _fields(self, data: FileWindow, offset: int, known: Mapping[int, int]) -> Iterator[Field]:
        """Yield the complete fields of the message at `offset` of the file; the rest becomes damage."""
        pos = 0
        while pos < len(data):
            try:
                part, end = field_at(data, pos, known)
            except (IndexError, ValueError) as error:
                what = "the trace is cut short" if isinstance(error, IndexError) else "not a profiler trace"
                return self._add_damage(offset + pos, len(data) - pos, what)
            if part.number in known:
                yield part._replace(offset=offset + part.offset)
            else:
                self._add_damage(offset + pos, end - pos, f"a field {part.number}, which no trace has")
            pos = end

    def _add_damage(self, offset: int, length: int, what: str) -> None:
        self.damage.append(Damage(offset, length, what))
