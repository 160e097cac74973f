"""Helpers for readers of text files other than logs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows

_MAX_EXCERPT_CHARS = 2_000


def add_matches(
    output: SourceRows, matcher: Matcher, number: int, line: str, ids: Iterable[str], **cells: object
) -> None:
    """Add the matches of one line; `cells` names its worker if it is not the source's."""
    for hit in matcher.confirm(ids, line, None):
        if hit.pattern not in matcher.facts:
            start, end = hit.start, hit.start + len(hit.matched)
            output.add(
                "matches", pattern=hit.pattern, line=number, kind="plain", start=start, end=end,
                excerpt=line[:_MAX_EXCERPT_CHARS], captures=json.dumps(dict(hit.captures)), **cells,
            )  # fmt: skip


def add_all_matches(output: SourceRows, matcher: Matcher, text: str) -> None:
    """Add the matches of all lines of a text."""
    lines, wanted = text.split("\n"), matcher.lines(text.encode("utf-8", "replace"))
    for number in sorted(wanted):
        add_matches(output, matcher, number, lines[number - 1], wanted[number])


def report_unread_lines(output: SourceRows, numbers: list[int], what: str) -> None:
    """Report lines that could not be read: how many, and the number of the first."""
    if numbers:
        several = f"{len(numbers)} lines that are" if len(numbers) > 1 else "a line that is"
        output.add_damage(f"{several} {what}", line=numbers[0])
