"""What readers of files that are no logs share: matches of single lines, and lines not understood."""

from __future__ import annotations

import json
from collections.abc import Iterable

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows

_MOST_OF_A_LINE = 2_000


def note(
    output: SourceRows, matcher: Matcher, number: int, line: str, ids: Iterable[str], **whose: object
) -> None:
    """What rules look for in one line; `whose` names its worker, where that is not the source's own."""
    for hit in matcher.confirm(ids, line, None):
        if not hit.pattern.startswith("announces/"):
            start, end = hit.start, hit.start + len(hit.matched)
            output.add(
                "matches", pattern=hit.pattern, line=number, kind="plain", start=start, end=end,
                excerpt=line[:_MOST_OF_A_LINE], captures=json.dumps(dict(hit.captures)), **whose,
            )  # fmt: skip


def note_all(output: SourceRows, matcher: Matcher, text: str) -> None:
    """What rules look for in the lines of a text, all of them the source's own."""
    lines, wanted = text.split("\n"), matcher.lines(text.encode("utf-8", "replace"))
    for number in sorted(wanted):
        note(output, matcher, number, lines[number - 1], wanted[number])


def not_understood(output: SourceRows, numbers: list[int], what: str) -> None:
    """Say which lines a reader could make nothing of: how many, and where the first one stands."""
    if numbers:
        several = f"{len(numbers)} lines that are" if len(numbers) > 1 else "a line that is"
        output.add_damage(f"{several} {what}", line=numbers[0])
