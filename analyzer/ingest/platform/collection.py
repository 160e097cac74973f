"""Logs that `mwms-collect` could not get, a line each: name, tab, error message → a fact `not_collected`."""

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines

_MAX_NAMED = 3


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Add the fact, with the first error: `gpu22:/logs and 2 more (ssh: no route to host)`."""
    lines = [line.partition("\t") for line in whole_text(output).splitlines()]
    lost = [(name, error) for name, tab, error in lines if tab]
    unread = [number for number, (name, tab, _) in enumerate(lines, 1) if name and not tab]
    report_unread_lines(output, unread, "no name and error message with a tab between them")
    if lost:
        names = ", ".join(name for name, _ in lost[:_MAX_NAMED])
        more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
        output.add("facts", key="not_collected", value=f"{names}{more} ({lost[0][1]})")
