"""Searches and reads lines of text files other than logs."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text, why_no_json

MAX_EXCERPT_CHARS = 2_000


def add_matches(
    output: SourceRows, matcher: Matcher, number: int, line: str, ids: Iterable[str], **cells: object
) -> None:
    """Add the matches of one line; `cells` gives its worker if that is not the worker of the source."""
    for hit in matcher.confirm(ids, line, None):
        if hit.pattern not in matcher.facts:
            start, end = hit.start, hit.start + len(hit.matched)
            output.add(
                "matches", pattern=hit.pattern, line=number, kind="plain", start=start, end=end,
                excerpt=line[:MAX_EXCERPT_CHARS], captures=json.dumps(dict(hit.captures)), **cells,
            )  # fmt: skip


def searched_text(output: SourceRows, matcher: Matcher) -> str:
    """Return the text of a small file, and add the matches of its lines.

    Raises:
        OSError: the file cannot be read.
    """
    matcher.begin_file()
    text = whole_text(output)
    lines, wanted = text.split("\n"), matcher.lines(text.encode("utf-8", "replace"))
    for number in sorted(wanted):
        add_matches(output, matcher, number, lines[number - 1], wanted[number])
    return text


def read_lines(output: SourceRows, text: str, read_line: Callable[[int, str], bool], what: str) -> None:
    """Read a text line by line, without blank lines; report those that `read_line` could not read (False)."""
    lines = enumerate(text.split("\n"), 1)
    report_unread_lines(output, [n for n, line in lines if line.strip() and not read_line(n, line)], what)


def report_unread_lines(output: SourceRows, numbers: list[int], what: str) -> None:
    """Report lines that could not be read: how many, and the number of the first."""
    if numbers:
        several = f"{len(numbers)} lines that are" if len(numbers) > 1 else "a line that is"
        output.add_damage(f"{several} {what}", line=numbers[0])


def parsed_json(output: SourceRows, text: str, writer: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text that a program writes; None, and damage, if it is broken."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        what = f"is not JSON as {writer} writes it: {why_no_json(error)}"[:200]
        output.add_damage(what, line=getattr(error, "lineno", None))
        return None


def parts(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the first line, from 1, and the text of each part that begins with a match; none before it."""
    starts = dict.fromkeys(match.start() for match in begins.finditer(text))
    line, counted = 1, 0
    for start, end in pairwise([*starts, len(text)]):
        line, counted = line + text.count("\n", counted, start), start
        yield line, text[start:end]


class LineFinder:
    """Finds the line numbers of successive matches in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at, self.number = 0, 1

    def line(self, pattern: str) -> int | None:
        """Return the line of the next match; None if there is none."""
        match = re.compile(pattern).search(self.text, self.at)
        if match is None:
            return None
        self.number += self.text.count("\n", self.at, match.end())
        self.at = match.end()
        return self.number
