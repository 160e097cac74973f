"""Reads a run into tables; each source is opened once, by the reader of its kind.

To add a reader: a module with `read(output, matcher)`, which fills a `SourceRows` and may raise OSError, and
a kind in `analyzer.model.source_kinds`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.profiler.duplicate_traces import duplicate_traces
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.fork_pool import ForkPool, ScanLog
from analyzer.ingest.scan.line_selection import sampling_for
from analyzer.ingest.scan.scan_plan import LogScan, log_groups, scan_log
from analyzer.ingest.source_reader import prepare_log_reader, read_source
from analyzer.model.budget import Budget
from analyzer.model.messages import Messages
from analyzer.model.options import ProgressCallback
from analyzer.model.run import Pattern, RunDir, Source, Tables
from analyzer.model.source_kinds import Kind


def ingest(
    run: RunDir,
    patterns: Sequence[Pattern],
    messages: Messages,
    progress: ProgressCallback | None = None,
    warm_up: Callable[[], None] | None = None,
) -> Tables:
    """Read all sources of a run into the tables of `schema.READ`.

    `patterns` decide which log records become rows; `messages` holds wording that readers know. `warm_up`
    is called once after the reader processes have started, or at once if there are none. A source that
    cannot be read is a row of `sources` with the reason, never an exception.
    """
    matcher = Matcher(patterns, messages)
    done = _ReadProgress(run.sources, progress)
    duplicates = duplicate_traces(run.sources)
    once = [source for source in run.sources if source.name not in duplicates]
    outputs = _read_all(once, matcher, run.budget, done, warm_up)
    read = {output.source.name for output in outputs if "spans" in output.rows}
    for source in run.sources:
        if source.name in duplicates:
            outputs += _read_duplicate(source, duplicates[source.name], read, matcher, run.budget)
            done.finish(source)
    from analyzer.ingest.assembly import assemble  # polars takes longer than all other imports

    return assemble(outputs, run.sources)


def _read_all(
    sources: Sequence[Source],
    matcher: Matcher,
    budget: Budget,
    done: _ReadProgress,
    warm_up: Callable[[], None] | None,
) -> list[SourceRows]:
    """Return the rows of every source, in order; forked processes read the logs that take long."""
    logs = [source for source in sources if source.kind is Kind.LOG and not source.skip]
    sampling = sampling_for([done.size(log) for log in logs])

    def scan(log: Source) -> LogScan:
        return scan_log(log, lambda: matcher.prefilter, partial(done.advance, log), sampling, budget)

    def read(source: Source, scan: ScanLog) -> list[SourceRows]:
        return read_source(matcher, source, scan, shares[source.kind], budget=budget)

    shares = Counter(source.kind for source in sources)
    outputs: list[SourceRows] = []
    load, groups = partial(prepare_log_reader, matcher), log_groups(logs, done.size)
    pool = ForkPool(groups, load, read, sampling, budget, done.advance)
    with pool:
        if warm_up:
            warm_up()
        for source in sources:
            collected = pool.collect(source) if source in pool else None
            outputs += read(source, scan) if collected is None else collected
            done.finish(source)
    return outputs


def _read_duplicate(
    source: Source, original: str, read: set[str], matcher: Matcher, budget: Budget
) -> list[SourceRows]:
    """Return the rows of a trace; skip it if its session was read from another file with rows."""
    if original not in read:
        return read_source(matcher, source, budget=budget)
    output = SourceRows(source)
    output.skip(f"the same session is read from {original}")
    return [output]


class _ReadProgress:
    """Sums the bytes read per source and reports them; sources are read one after the other."""

    def __init__(self, sources: Sequence[Source], callback: ProgressCallback | None) -> None:
        self._sizes = {source.name: _size_of(source) for source in sources}
        self._total, self._done, self._callback = sum(self._sizes.values()), 0, callback

    def size(self, source: Source) -> int:
        """Return the size of a source in bytes; 0 if it is not read."""
        return self._sizes[source.name]

    def advance(self, source: Source, offset: int) -> None:
        """Note that the current source has been read up to an offset."""
        if self._callback:
            self._callback(source.name, self._done + min(offset, self.size(source)), self._total)

    def finish(self, source: Source) -> None:
        """Note that a source has been read."""
        self._done += self.size(source)
        self.advance(source, 0)


def _size_of(source: Source) -> int:
    try:
        return 0 if source.skip else source.path.stat().st_size
    except OSError:
        return 0
