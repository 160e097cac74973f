"""RunDir → Tables: each source is opened once, by the reader of its kind.

To add a reader: a module with `read(source, matcher) -> Reading`, and an entry in
`analyzer.model.source_kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.profiler.duplicate_traces import duplicate_traces
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.fork_pool import ForkPool
from analyzer.ingest.scan.line_selection import WHOLE, budget_for
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.ingest.scan.scan_plan import LARGE, Survey, survey
from analyzer.model.messages import Messages
from analyzer.model.options import ProgressCallback
from analyzer.model.run import Pattern, RunDir, Source, Tables
from analyzer.model.source_kinds import Kind


def ingest(
    run: RunDir,
    patterns: Sequence[Pattern],
    messages: Messages,
    watch: ProgressCallback | None = None,
    warm_up: Callable[[], None] | None = None,
) -> Tables:
    """The tables of `schema.READ`; `patterns` say which log records are wanted, `watch` is told of progress.

    `messages` is the wording that log readers know.

    `meanwhile` is called once, when others are at work on the large logs, or would be.

    A source that cannot be read is a row of `sources` with its reason, never an exception.
    """
    matcher = Matcher(patterns, messages)
    outputs = _read_all(run.sources, matcher, watch or _unwatched, warm_up or _nothing)
    from analyzer.ingest.assembly import assemble

    return assemble(outputs, run.sources)


def _read_all(
    sources: Sequence[Source], matcher: Matcher, watch: ProgressCallback, warm_up: Callable[[], None]
) -> list[SourceRows]:
    """Each source once; of a session that was traced in two formats one is read, the other if that fails."""
    twice = duplicate_traces(sources)
    tally = _Tally(sources, watch)
    outputs: list[SourceRows] = []
    with _reader(sources, matcher, tally) as read:
        warm_up()
        for source in sources:
            if source.name not in twice:
                outputs += read(source)
    traced = {output.source.name for output in outputs if "spans" in output.rows}
    for source in sources:
        if (plane := twice.get(source.name)) in traced:
            outputs.append(SourceRows(source))
            outputs[-1].skip(f"the same session is read from {plane}")
        elif plane:
            outputs += _tried(matcher, source)
            tally.behind(source)
    return outputs


class _Tally:
    """How much of all sources has been read."""

    def __init__(self, sources: Sequence[Source], watch: ProgressCallback) -> None:
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
) -> Iterator[Callable[[Source], list[SourceRows]]]:
    """What reads one source after the other; others are at work on the large logs meanwhile."""
    logs = [source for source in sources if source.kind is Kind.LOG and not source.skip]
    budget = budget_for(sum(_size(log) > WHOLE for log in logs))
    large = [log for log in logs if _size(log) >= LARGE]

    def surveyed(log: Source) -> Survey:
        return survey(log, lambda: matcher.prefilter, lambda offset: tally.within(log, offset), budget)

    with (
        ForkPool(large, partial(_ready, matcher), partial(_tried, matcher), budget, tally.within) as beside,
        ExitStack() as threads,
    ):
        ahead = None
        if len(others := [log for log in large if log not in beside]) > 1:
            from analyzer.ingest.scan.prefetch import Prefetch

            ahead = threads.enter_context(Prefetch(others, lambda: matcher.prefilter, budget, tally.within))

        def read(source: Source) -> list[SourceRows]:
            try:
                outputs = beside(source) if source in beside else None
                return _tried(matcher, source, ahead or surveyed) if outputs is None else outputs
            finally:
                tally.behind(source)
                if ahead:
                    ahead.behind(source)

        yield read


def _ready(matcher: Matcher) -> Prefilter:
    """The scout, and all else that reads a log made ready too."""
    import_module(f"analyzer.ingest.{Kind.LOG.reader}")
    matcher.begin_file()
    return matcher.prefilter


def _tried(
    matcher: Matcher, source: Source, surveyed: Callable[[Source], Survey] | None = None
) -> list[SourceRows]:
    output = SourceRows(source)
    if source.skip:
        output.skip(source.skip)
    elif source.kind.reader is None:
        output.skip("no reader for this kind of file")
    else:
        try:
            module = import_module(f"analyzer.ingest.{source.kind.reader}")
            # A log may be large: it is surveyed ahead of its turn.
            more = (surveyed,) if source.kind is Kind.LOG else ()
            read: SourceRows | list[SourceRows] = module.read(source, matcher, *more)
            return read if isinstance(read, list) else [read]
        except OSError as error:
            output.skip(f"cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - one source that we fail on must not cost the others
            output.skip(f"reader failed: {type(error).__name__}: {error}"[:400])
    return [output]
