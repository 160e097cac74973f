"""A worker's stdout or stderr → records, matches, scalars and facts."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from analyzer.ingest import announcements
from analyzer.ingest.collectors import Stream, streams
from analyzer.ingest.matcher import Hit, Matcher
from analyzer.ingest.packed import unpacked
from analyzer.ingest.progress import Mark, Progress
from analyzer.ingest.readings import Reading, flaws
from analyzer.ingest.records import Record, records
from analyzer.ingest.text import LONGEST, decode, lines
from analyzer.model import Source
from analyzer.naming import worker_of
from analyzer.schema import LARGEST_INT

KEPT_AT_EITHER_END = 60
"""Records of head and tail that are kept whatever they say, as context and for unknown failures."""

_ENDLESS = 25
"""Digits that no number of a task has; Python refuses to read some thousands of them."""

_YEAR = re.compile(rb"(?<!\d)(20[2-9]\d)-[01]\d-[0-3]\d[T ]|0000 00:00:(\d{9,11})\.")


def read(source: Source, matcher: Matcher) -> list[Reading]:
    """Everything that later stages can use of one log; a file of several workers gives a reading for each.

    Raises:
        OSError: the file cannot be read, or what it was packed with is broken.
    """
    matcher.begin_file()
    data, damage = unpacked(source.path)
    text = decode(data)
    unread = list(flaws(data, text))
    found = streams(text)
    del text
    year = _year(data)
    readings = [_read_stream(_origin(source, stream, len(found)), stream, year, matcher) for stream in found]
    for reading in readings if damage else ():
        reading.lost(damage)
    for what, offset in unread:
        readings[0].lost(what, offset=offset)
    for pattern in sorted(matcher.slow):
        readings[0].add("damage", source=source.name, what=_given_up(pattern))
    return readings


def _given_up(pattern: str) -> str:
    """What a regex that takes too long costs: nothing of the file, only what one rule looks for in it."""
    rule, _, signal = pattern.partition("/")
    return f"rule {rule}, signal {signal}: its regex took too long and was given up"


def _origin(source: Source, stream: Stream, streams_in_all: int) -> Source:
    """The source that a stream is: the file itself, or a part of it that is named after the worker."""
    if stream.key is None:
        return source
    is_number = stream.key.isdecimal() and len(stream.key) < _ENDLESS
    worker = f"worker:{int(stream.key)}" if is_number else worker_of(stream.key)
    name = f"{source.name}#{stream.key}" if streams_in_all > 1 else source.name
    return source._replace(name=name, worker=worker or source.worker)


def _read_stream(source: Source, stream: Stream, year: int, matcher: Matcher) -> Reading:
    data = "\n".join(line for _, line in stream.lines).encode("utf-8", "replace")
    reading = Reading(source, bytes=len(data), lines=len(stream.lines) - (not stream.lines[-1][1]))
    _note_endless(reading, stream.lines)
    local = matcher.lines(data)
    del data
    wanted = sorted((stream.lines[number - 1][0], ids) for number, ids in local.items())
    _read_records(reading, records(lines(stream.lines), year), wanted, matcher)
    return reading


def _note_endless(reading: Reading, numbered: list[tuple[int, str]]) -> None:
    """Say that the middle of lines is left out; each state of a redrawn line counts as one."""
    long = [(number, line) for number, line in numbered if len(line) > LONGEST]
    endless = [number for number, line in long if max(map(len, re.split(r"[\r\x08]", line))) > LONGEST]
    if endless:
        what = f"{len(endless)} endless line{'s' * (len(endless) > 1)}, of which the middle is left out"
        reading.lost(what, line=endless[0])


def _read_records(
    reading: Reading, found: Iterable[Record], wanted: list[tuple[int, set[str]]], matcher: Matcher
) -> None:
    progress = Progress()
    numbers = [number for number, _ in wanted]
    for record, at_an_end in _ends_marked(found):
        reading.saw(record.time)
        if record.cut:
            what = f"{record.cut} lines in the middle of a record that is too large to be held"
            reading.lost(what, line=record.line)
        if record.kind == "progress":
            _read_progress(reading, record, progress)
        hits = _hits(record, wanted, numbers, matcher)
        for hit in hits:
            _note(reading, record, hit)
        if hits or at_an_end or record.kind == "traceback" or record.level in {"W", "E", "F"}:
            _keep(reading, record)


def _ends_marked(found: Iterable[Record]) -> Iterator[tuple[Record, bool]]:
    """Each record, and whether it is one of the first or the last; no more are held than needed."""
    waiting: deque[Record] = deque()
    for position, record in enumerate(found):
        if position < KEPT_AT_EITHER_END:
            yield record, True
            continue
        waiting.append(record)
        if len(waiting) > KEPT_AT_EITHER_END:
            yield waiting.popleft(), False
    yield from ((record, True) for record in waiting)


def _hits(
    record: Record, wanted: list[tuple[int, set[str]]], numbers: list[int], matcher: Matcher
) -> list[Hit]:
    ids: set[str] = set()
    for at in range(bisect_left(numbers, record.line), len(numbers)):
        if numbers[at] > record.last_line:
            break
        ids |= wanted[at][1]
    return matcher.confirm(ids, record.text, record.level) if ids else []


def _read_progress(reading: Reading, record: Record, progress: Progress) -> None:
    for body in record.bodies:
        marks = list(progress.marks(body))
        if marks and _no_place(marks[0]):
            reading.lost("a step or epoch whose number is too large to be one", line=record.line)
            continue
        for mark in marks:
            reading.add("scalars", line=record.line, time=record.time, **mark._asdict())


def _no_place(mark: Mark) -> bool:
    return max(mark.epoch or 0, mark.epochs or 0, mark.step or 0, mark.steps or 0) > LARGEST_INT


def _note(reading: Reading, record: Record, hit: Hit) -> None:
    blank = len(hit.matched) - len(hit.matched.lstrip()) if hit.matched.strip() else 0
    piece, start = record.place(hit.start + blank)
    for key, value in announcements.facts(hit):
        if key in announcements.NOT_FROM_ERRORS and record.level in {"W", "E", "F"}:
            continue
        line = _line_naming(record, value) if key == "awaits" else piece.number
        reading.add("facts", line=line, time=record.time, key=key, value=value)
    if not hit.pattern.startswith("announces/"):
        end = start + len(hit.matched[blank:].split("\n", 1)[0])
        reading.add(
            "matches", pattern=hit.pattern, line=piece.number, time=record.time, kind=record.kind,
            excerpt=piece.text, start=start, end=min(len(piece.text), end),
            captures=json.dumps(dict(hit.captures)),
        )  # fmt: skip


def _line_naming(record: Record, task: str) -> int:
    """The line of a list of tasks that names this one."""
    ending = "/task:" + task.partition(":")[2]
    return next((piece.number for piece in record.pieces if piece.text.strip().endswith(ending)), record.line)


def _keep(reading: Reading, record: Record) -> None:
    if not record.text.strip():
        return
    reading.add(
        "records", line=record.line, last_line=record.last_line, time=record.time, near=record.near,
        level=record.level, kind=record.kind, origin=record.origin, text=record.text,
    )  # fmt: skip


def _year(data: bytes) -> int:
    """The year that the log itself shows; without one, that of the file would be a guess, so 1970."""
    if match := _YEAR.search(data):
        return int(match[1]) if match[1] else datetime.fromtimestamp(int(match[2]), UTC).year
    return 1970
