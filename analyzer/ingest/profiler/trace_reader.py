"""Profiler traces → spans."""

from __future__ import annotations

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.profiler.chrome_traces import read_chrome_trace
from analyzer.ingest.profiler.duplicate_traces import is_chrome
from analyzer.ingest.profiler.xplane import read_trace
from analyzer.ingest.reader_output import Reading
from analyzer.model.run import Source
from analyzer.storage.decompress import plain


def read(source: Source, _matcher: Matcher) -> Reading:
    """The spans that tell steps and collectives apart; what is damaged is said.

    A trace of which nothing is left counts as not read, so that no rule calls quiet what it did not see.

    Raises:
        OSError: the file cannot be read.

    """
    reading = Reading(source)
    reading.bytes = source.path.stat().st_size
    with plain(source.path) as (path, broken):
        trace = read_chrome_trace(path) if is_chrome(source) else read_trace(path)
    if broken:
        reading.lost(broken)
    for span in trace.spans:
        start, end = span.start_ns / 1e9, None if span.end_ns is None else span.end_ns / 1e9
        if trace.absolute:
            reading.saw(start)
            reading.saw(end)
        reading.add(
            "spans",
            kind=span.kind,
            name=span.name,
            start=start,
            end=end,
            step=span.step,
            instance=span.instance,
            thread=span.thread,
            absolute=trace.absolute,
        )
    if trace.absolute and trace.stop_ns is not None:
        reading.saw(trace.stop_ns / 1e9)
    for damage in trace.damage:
        reading.lost(damage.what, offset=damage.offset, length=damage.length)
    if not trace.spans and reading.reason:
        reading.skip(reading.reason)
    return reading
