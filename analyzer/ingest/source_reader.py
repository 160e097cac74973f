"""Reads one source with the reader of its kind; any error becomes the reason for skipping it."""

from importlib import import_module

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.pack_rows import PackRows, WrongRowError
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.fork_pool import ScanLog
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.model.budget import BEYOND_BUDGET, Budget, OverBudgetError
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind


def read_source(
    matcher: Matcher, source: Source, scan: ScanLog | None = None, share: int = 1, *, budget: Budget
) -> list[SourceRows]:
    """Return the rows of one source: one item, or for a log with several workers one item for each.

    `scan` selects the lines to read from a log; `share` is the number of sources of this kind.
    Raises nothing: errors become the reason of a skipped source.
    """
    reason = source.skip
    try:
        if not reason:
            budget.spend()
            rows = PackRows if source.reader else SourceRows
            return _read(rows(source, budget, share=share), matcher, scan)
    except OverBudgetError as spent:
        reason = str(spent)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    except WrongRowError as error:
        reason = f"{source.reader} added a wrong row: {error}"[:400]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failing reader must not cost the other sources
        reason = f"{source.reader or 'reader'} failed: {type(error).__name__}: {error}"[:400]
    output = SourceRows(source, budget)
    if BEYOND_BUDGET in reason:
        output.add_damage(reason)
    output.skip(reason)
    return [output]


def _read(output: SourceRows, matcher: Matcher, scan: ScanLog | None) -> list[SourceRows]:
    source = output.source
    if not source.reader and source.kind.reader is None:
        output.skip("no reader for this kind of file")
        return [output]
    module = import_module(source.reader or f"analyzer.ingest.{source.kind.reader}")
    if source.kind is Kind.LOG:
        outputs: list[SourceRows] = module.read(source, matcher, scan)
        for each in outputs:
            each.hold_in_columns(output.share * len(outputs))
        return outputs
    module.read(output, matcher)
    return [output]


def prepare_log_reader(matcher: Matcher) -> Prefilter:
    """Import the log reader and load the prefilter, so that forked readers share both."""
    import_module(f"analyzer.ingest.{Kind.LOG.reader}")
    matcher.begin_file()
    return matcher.prefilter
