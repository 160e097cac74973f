"""RunDir → Tables: each source is opened once, by the reader of its kind.

To add a reader: a module with `read(source, matcher) -> Reading`, and an entry in
`analyzer.model.source_kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module

from analyzer.ingest.logs import fact_patterns
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.profiler.duplicate_traces import told_twice
from analyzer.ingest.reader_output import Reading
from analyzer.ingest.scan.fork_pool import Beside
from analyzer.ingest.scan.line_selection import WHOLE, room
from analyzer.ingest.scan.prefilter import Scout
from analyzer.ingest.scan.scan_plan import LARGE, Survey, survey
from analyzer.model.run import Pattern, RunDir, Source, Tables
from analyzer.model.source_kinds import Kind

Watch = Callable[[str, int, int], None]
"""Told the name of a source, and how many bytes of how many in all are read."""


def ingest(
    run: RunDir,
    patterns: Sequence[Pattern],
    watch: Watch | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Tables:
    """The tables of `schema.READ`; `patterns` say which log records are wanted, `watch` is told of progress.

    `meanwhile` is called once, when others are at work on the large logs, or would be.

    A source that cannot be read is a row of `sources` with its reason, never an exception.
    """
    matcher = Matcher([*patterns, *fact_patterns.PATTERNS])
    readings = _read_all(run.sources, matcher, watch or _unwatched, meanwhile or _nothing)
    from analyzer.ingest.assembly import assemble

    return assemble(readings, run.sources)


def _read_all(
    sources: Sequence[Source], matcher: Matcher, watch: Watch, meanwhile: Callable[[], None]
) -> list[Reading]:
    """Each source once; of a session that was traced in two formats one is read, the other if that fails."""
    twice = told_twice(sources)
    tally = _Tally(sources, watch)
    readings: list[Reading] = []
    with _reader(sources, matcher, tally) as read:
        meanwhile()
        for source in sources:
            if source.name not in twice:
                readings += read(source)
    traced = {reading.source.name for reading in readings if "spans" in reading.rows}
    for source in sources:
        if (plane := twice.get(source.name)) in traced:
            readings.append(Reading(source))
            readings[-1].skip(f"the same session is read from {plane}")
        elif plane:
            readings += _tried(matcher, source)
            tally.behind(source)
    return readings


class _Tally:
    """How much of all sources has been read."""

    def __init__(self, sources: Sequence[Source], watch: Watch) -> None:
        self._sizes = {source.name: _size(source) for source in sources}
        self._all, self._done, self._watch = sum(self._sizes.values()), 0, watch

    def within(self, source: Source, offset: int) -> None:
        """Tell how far a source has been read."""
        self._watch(source.name, self._done + min(offset, self._sizes[source.name]), self._all)

    def behind(self, source: Source) -> None:
        """Tell that a source has been read."""
        self._done += self._sizes[source.name]
        self.within(source, 0)


def _size(source: Source) -> int:
    try:
        return 0 if source.skip else source.path.stat().st_size
    except OSError:
        return 0


def _nothing() -> None:
    """There is nothing else to do."""


def _unwatched(_source: str, _done: int, _all: int) -> None:
    """Nobody wants to know."""


@contextmanager
def _reader(
    sources: Sequence[Source], matcher: Matcher, tally: _Tally
) -> Iterator[Callable[[Source], list[Reading]]]:
    """What reads one source after the other; others are at work on the large logs meanwhile."""
    logs = [source for source in sources if source.kind is Kind.LOG and not source.skip]
    space = room(sum(_size(log) > WHOLE for log in logs))
    large = [log for log in logs if _size(log) >= LARGE]

    def surveyed(log: Source) -> Survey:
        return survey(log, lambda: matcher.scout, lambda offset: tally.within(log, offset), space)

    with (
        Beside(large, partial(_ready, matcher), partial(_tried, matcher), space, tally.within) as beside,
        ExitStack() as threads,
    ):
        ahead = None
        if len(others := [log for log in large if log not in beside]) > 1:
            from analyzer.ingest.scan.prefetch import Ahead

            ahead = threads.enter_context(Ahead(others, lambda: matcher.scout, space, tally.within))

        def read(source: Source) -> list[Reading]:
            try:
                readings = beside(source) if source in beside else None
                return _tried(matcher, source, ahead or surveyed) if readings is None else readings
            finally:
                tally.behind(source)
                if ahead:
                    ahead.behind(source)

        yield read


def _ready(matcher: Matcher) -> Scout:
    """The scout, and all else that reads a log made ready too."""
    import_module(f"analyzer.ingest.{Kind.LOG.reader}")
    matcher.begin_file()
    return matcher.scout


def _tried(
    matcher: Matcher, source: Source, surveyed: Callable[[Source], Survey] | None = None
) -> list[Reading]:
    reading = Reading(source)
    if source.skip:
        reading.skip(source.skip)
    elif source.kind.reader is None:
        reading.skip("no reader for this kind of file")
    else:
        try:
            module = import_module(f"analyzer.ingest.{source.kind.reader}")
            # A log may be large: it is surveyed ahead of its turn.
            more = (surveyed,) if source.kind is Kind.LOG else ()
            read: Reading | list[Reading] = module.read(source, matcher, *more)
            return read if isinstance(read, list) else [read]
        except OSError as error:
            reading.skip(f"cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - one source that we fail on must not cost the others
            reading.skip(f"reader failed: {type(error).__name__}: {error}"[:400])
    return [reading]
