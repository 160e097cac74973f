"""RunDir → Tables: each source is opened once, by the reader of its kind.

To add a reader: a module with `read(source, matcher) -> Reading`, and one line in `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any

from analyzer.ingest import announcements, attempts
from analyzer.ingest.attribution import attribute
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.readings import Reading
from analyzer.model import Kind, Pattern, RunDir, Source, Tables
from analyzer.schema import READ, TABLES, frame

Reader = Callable[[Source, Matcher], Reading | list[Reading]]

READERS: Mapping[Kind, str] = {
    Kind.LOG: "exports",
    Kind.TF_CONFIG: "configs",
    Kind.EXIT_CODES: "exit_codes",
    Kind.EVENT_FILE: "events",
    Kind.TRACE: "profiles",
    Kind.PODS: "pods",
}
"""Kind of source → module of its reader, imported when a run has such a source."""


Watch = Callable[[str, int, int], None]
"""Told the name of a source, and how many bytes of how many in all are read."""


def ingest(run: RunDir, patterns: Sequence[Pattern], watch: Watch | None = None) -> Tables:
    """The tables of `schema.READ`; `patterns` say which log records are wanted, `watch` is told of progress.

    A source that cannot be read is a row of `sources` with its reason, never an exception.
    """
    matcher = Matcher([*patterns, *announcements.PATTERNS])
    readings = list(_read_all(run.sources, matcher, watch))
    attribute(readings)
    attempts.number(readings)
    return {table: frame(table, _rows(table, readings)) for table in READ}


def _read_all(sources: Sequence[Source], matcher: Matcher, watch: Watch | None) -> Iterator[Reading]:
    sizes = [_size(source) for source in sources] if watch else []
    done = 0
    for number, source in enumerate(sources):
        yield from _read(source, matcher)
        if watch:
            done += sizes[number]
            watch(source.name, done, sum(sizes))


def _size(source: Source) -> int:
    try:
        return 0 if source.skip else source.path.stat().st_size
    except OSError:
        return 0


def _read(source: Source, matcher: Matcher) -> list[Reading]:
    reading = Reading(source)
    if source.skip:
        reading.skip(source.skip)
    elif source.kind not in READERS:
        reading.skip("no reader for this kind of file")
    else:
        try:
            read = _reader(source.kind)(source, matcher)
            return read if isinstance(read, list) else [read]
        except OSError as error:
            reading.skip(f"cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - one source that we fail on must not cost the others
            reading.skip(f"reader failed: {type(error).__name__}: {error}"[:400])
    return [reading]


def _reader(kind: Kind) -> Reader:
    read: Reader = import_module(f"analyzer.ingest.{READERS[kind]}").read
    return read


def _rows(table: str, readings: Sequence[Reading]) -> list[dict[str, Any]]:
    if table == "sources":
        return [_source_row(reading) for reading in readings]
    names = {column.name for column in TABLES[table]}
    return list(chain.from_iterable(_filled(table, names, reading) for reading in readings))


def _filled(table: str, names: set[str], reading: Reading) -> list[dict[str, Any]]:
    source = reading.source
    place = {"worker": source.worker, "attempt": source.attempt, "source": source.name}
    own = {name: value for name, value in place.items() if name in names}
    return [own | row for row in reading.rows.get(table, [])]


def _source_row(reading: Reading) -> dict[str, Any]:
    source = reading.source
    return {
        "source": source.name,
        "kind": source.kind.value,
        "worker": source.worker,
        "attempt": source.attempt,
        "bytes": reading.bytes,
        "lines": reading.lines,
        "first_time": reading.first_time,
        "last_time": reading.last_time,
        "read": reading.read,
        "reason": reading.reason,
    }
