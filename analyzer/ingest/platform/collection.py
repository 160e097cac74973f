"""What `mwms-collect` says of its work → facts: when it worked, where the run is from, what it could not get.

`collected_at.txt` is an interval of ISO 8601, two times with their zones and a slash between them →
`collected_at`; `collected_from.txt` names the platform, and each directory and its host with a tab between
them → `collected_from` and `folder_host`; `not_collected.txt` has a line for each log, name, tab, error
message → `not_collected`. A pod that no longer exists by that message → `pod_gone`.
"""

import re
from contextlib import suppress
from datetime import datetime

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines

_MAX_NAMED = 3
_GONE = re.compile(r'\bpods? "(?P<pod>[\w.-]+)" not found|\bpods of \S+ exist; deleted\b')
"""Regex for the message of a log whose pod no longer exists, in the words of kubectl or of mwms-collect."""


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Add facts: when and where the files were collected, or which logs could not be."""
    name = output.source.name.lower()
    if name.endswith("not_collected.txt"):
        _read_losses(output)
    elif name.endswith("collected_from.txt"):
        _read_platform(output)
    else:
        _read_time(output)


def _read_time(output: SourceRows) -> None:
    stated = whole_text(output).strip()
    with suppress(ValueError):
        began, ended = map(datetime.fromisoformat, stated.split("/"))
        if began.tzinfo and ended.tzinfo and began <= ended:
            output.add("facts", key="collected_at", value=stated, line=1, excerpt=stated)
            return
    report_unread_lines(output, [1] * bool(stated), "no interval of ISO 8601 between two times with a zone")


def _read_platform(output: SourceRows) -> None:
    for number, line in enumerate(whole_text(output).splitlines(), 1):
        key = "folder_host" if "\t" in line else "collected_from"
        output.add("facts", line=number, key=key, value=line)


def _read_losses(output: SourceRows) -> None:
    """Add the logs that were not collected, as a fact: `gpu22:/logs and 2 more (ssh: no route to host)`."""
    lines = [line.partition("\t") for line in whole_text(output).splitlines()]
    lost = [(name, error) for name, tab, error in lines if tab]
    unread = [number for number, (name, tab, _) in enumerate(lines, 1) if name and not tab]
    report_unread_lines(output, unread, "no name and error message with a tab between them")
    for number, (name, _, error) in enumerate(lines, 1):
        if gone := _GONE.search(error):
            output.add("facts", line=number, key="pod_gone", value=gone["pod"] or name.removesuffix(".log"))
    if lost:
        names = ", ".join(name for name, _ in lost[:_MAX_NAMED])
        more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
        output.add("facts", key="not_collected", value=f"{names}{more} ({lost[0][1]})")
