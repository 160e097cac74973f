"""Reads one source with the reader of its kind; any error becomes the reason for skipping it."""

from __future__ import annotations

from importlib import import_module

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.fork_pool import ScanLog
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind


def read_source(matcher: Matcher, source: Source, scan: ScanLog | None = None) -> list[SourceRows]:
    """Return the rows of one source: one item, or one for each worker in a log.

    `scan` selects the lines to read from a log. Raises nothing: errors become the reason of a skipped source.
    """
    output = SourceRows(source)
    if source.skip:
        output.skip(source.skip)
    elif source.kind.reader is None:
        output.skip("no reader for this kind of file")
    else:
        try:
            module = import_module(f"analyzer.ingest.{source.kind.reader}")
            arguments = (scan,) if source.kind is Kind.LOG else ()
            read: SourceRows | list[SourceRows] = module.read(source, matcher, *arguments)
            return read if isinstance(read, list) else [read]
        except OSError as error:
            output.skip(f"cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - a failing reader must not cost the other sources
            output.skip(f"reader failed: {type(error).__name__}: {error}"[:400])
    return [output]


def prepare_log_reader(matcher: Matcher) -> Prefilter:
    """Import the log reader and load the prefilter, so that forked readers share both."""
    import_module(f"analyzer.ingest.{Kind.LOG.reader}")
    matcher.begin_file()
    return matcher.prefilter
