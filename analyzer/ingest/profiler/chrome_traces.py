"""Profiler traces in Chrome's format (`*.trace.json.gz`) → the same kinds of spans as from an xplane.

Older versions of TensorFlow write both formats for one session. Events are decoded one by one, so that
irrelevant ones are not held in memory.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.ingest.profiler.span_kinds import NOTES, kind_of
from analyzer.ingest.profiler.spans import MAX_SPANS, Span, Trace, spans_left_out, whole_number, with_steps
from analyzer.ingest.tensorboard.event_files import Damage
from analyzer.model.budget import Budget, OverBudgetError

_CHUNK_CHARS = 1 << 20
"""Characters that are read at once; also the limit for one event."""
_EVENTS = re.compile(r'"traceEvents"\s*:\s*\[|\A\s*\[')
_ENTRY = re.compile(r"[^\s,]|$")
_IGNORED_KINDS = frozenset({"compute", *NOTES.values()})
"""Kinds of events that yield no spans; the intervals of computing come from xplanes only."""
_MAX_NAMES = 100_000
"""Processes and threads whose names are remembered."""
_MAX_MICROSECONDS = 1e15
"""Largest plausible time in a profile."""


def read_chrome_trace(path: Path, budget: Budget, limit: int = MAX_SPANS) -> Trace:
    """Return the first `limit` spans of a trace; unreadable parts become damage, what precedes them is kept.

    Raises:
        OSError: the file cannot be read.
    """
    reader = _Reader(limit)
    try:
        for event in _events(path, reader.damage, budget):
            reader.take(event)
    except OverBudgetError as spent:
        reader.damage.append(Damage(0, None, str(spent)))
    if reader.malformed:
        reader.damage.append(Damage(0, None, f"{reader.malformed} events that are none"))
    if reader.unpaired:
        what = f"{reader.unpaired} events whose begin and end are apart, which are not read"
        reader.damage.append(Damage(0, None, what))
    if reader.left_out:
        reader.damage.append(spans_left_out(limit))
    if not reader.timed and not reader.damage:
        reader.damage.append(Damage(0, path.stat().st_size, "the trace holds no event"))
    return Trace(list(with_steps(reader.spans)), reader.damage, events=reader.timed)


@dataclass(slots=True)
class _Reader:
    """Collects spans from trace events, at most `limit`, and counts the events that it cannot use."""

    limit: int
    spans: list[Span] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    processes: dict[object, str] = field(default_factory=dict)
    threads: dict[tuple[object, object], str] = field(default_factory=dict)
    timed: int = 0
    malformed: int = 0
    unpaired: int = 0
    left_out: bool = False

    def take(self, event: object) -> None:
        """Read one event; TensorFlow ends the list of events with an empty object."""
        if not isinstance(event, dict):
            self.malformed += 1
        elif event.get("ph") == "X":
            self._timed(event)
        elif event.get("ph") == "M":
            self._named(event)
        else:
            self.unpaired += event.get("ph") in {"B", "E"}

    def _named(self, event: Mapping[str, Any]) -> None:
        arguments = event.get("args")
        name = str(arguments.get("name", "")) if isinstance(arguments, dict) else ""
        if len(self.threads) + len(self.processes) > _MAX_NAMES:
            return
        if event.get("name") == "process_name":
            self.processes[str(event.get("pid"))] = name
        elif event.get("name") == "thread_name":
            self.threads[str(event.get("pid")), str(event.get("tid"))] = name

    def _timed(self, event: Mapping[str, Any]) -> None:
        start, length, name = _time(event.get("ts")), _time(event.get("dur", 0)), event.get("name")
        if start is None or length is None or not isinstance(name, str):
            self.malformed += 1
            return
        self.timed += 1
        given = event.get("args")
        stats: dict[str, Any] = given if isinstance(given, dict) else {}
        long = stats.get("long_name")
        name = long if isinstance(long, str) else name
        kind = kind_of(name, stats)
        if kind and kind not in _IGNORED_KINDS:
            step = whole_number(stats.get("step_num"))
            name = name.removesuffix(f" {step}") if kind == "step" else name
            place = str(event.get("pid")), str(event.get("tid"))
            thread, plane = self.threads.get(place, place[1]), self.processes.get(place[0], "")
            begin, end = round(start * 1000), round((start + length) * 1000)
            instance = whole_number(stats.get("instance_key"))
            if len(self.spans) == self.limit:
                self.left_out = True
                return
            self.spans.append(Span(kind, name, begin, end, thread, plane, step, instance))


def _time(value: object) -> float | None:
    return value if isinstance(value, int | float) and 0 <= value < _MAX_MICROSECONDS else None


def _events(path: Path, damage: list[Damage], budget: Budget) -> Iterator[object]:
    """Yield the entries of the list of events; if the list is cut short, add that to `damage`."""
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8", errors="replace") as file:
        held, dropped = file.read(_CHUNK_CHARS), 0
        opening = _EVENTS.search(held)
        if not opening:
            damage.append(Damage(0, None, "is not a trace: it has no list of events"))
            return
        at = opening.end()
        while True:
            entry = _ENTRY.search(held, at)
            at = entry.start() if entry else len(held)
            if held[at : at + 1] == "]":
                return
            try:
                event, end = decoder.raw_decode(held, at)
            except (ValueError, RecursionError):
                budget.spend()
                more = file.read(_CHUNK_CHARS) if len(held) - at <= _CHUNK_CHARS else ""
                if not more:
                    damage.append(Damage(dropped + at, None, "breaks off, or is no trace from here on"))
                    return
                dropped, held, at = dropped + at, held[at:] + more, 0
                continue
            yield event
            at = end
