"""Profiler traces → spans."""

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.profiler.chrome_traces import read_chrome_trace
from analyzer.ingest.profiler.duplicate_traces import is_chrome
from analyzer.ingest.profiler.spans import MAX_SPANS, MIN_SPANS
from analyzer.ingest.profiler.xplane import read_trace
from analyzer.ingest.reader_output import SourceRows
from analyzer.storage.decompress import decompressed_file


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Read the spans of one trace; damaged parts are reported.

    A damaged trace without spans counts as not read, so that no rule takes it for an idle worker.
    """
    source = output.source
    output.bytes = source.path.stat().st_size
    limit = max(MIN_SPANS, MAX_SPANS // output.share)
    read_spans = read_chrome_trace if is_chrome(source) else read_trace
    with decompressed_file(source.path, output.budget) as (path, broken):
        trace = read_spans(path, output.budget, limit)
    if broken:
        output.add_damage(broken)
    for span in trace.spans:
        start, end = span.start_ns / 1e9, None if span.end_ns is None else span.end_ns / 1e9
        if trace.absolute:
            output.observe_time(start)
            output.observe_time(end)
        output.add(
            "spans", kind=span.kind, name=span.name, start=start, end=end, step=span.step,
            instance=span.instance, thread=span.thread, absolute=trace.absolute,
        )  # fmt: skip
    if trace.absolute and trace.stop_ns is not None:
        output.observe_time(trace.stop_ns / 1e9)
    for damage in trace.damage:
        output.add_damage(damage.what, offset=damage.offset, length=damage.length)
    if not trace.spans and output.reason:
        output.skip(output.reason)
