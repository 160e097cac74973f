"""Extracts the quotes of a diagnosis document and compares each with the lines of its source."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.model.placeholders import OMITTED

_OF_ENTRY = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ")
"""Regex for the time of an entry, which stands before a line that begins a record; the lines above tell."""


class Quote(NamedTuple):
    """A text that a diagnosis quotes, with its source and line number (from 1)."""

    source: str
    line: int
    text: str


class Mismatch(NamedTuple):
    """A quote that is not in its file, and what the file has on that line instead."""

    quote: Quote
    found: str


def quotes(document: Mapping[str, Any]) -> list[Quote]:
    """Return all quotes of a diagnosis document, without duplicates.

    Raises:
        KeyError, TypeError, ValueError: the document does not have the form of a diagnosis.
    """
    return list(dict.fromkeys(_quotes(document)))


def _quotes(document: Mapping[str, Any]) -> Iterator[Quote]:
    evidence = [each for finding in document["findings"] for each in finding["evidence"]]
    for each in (*evidence, *document["last_words"]):
        if each["source"] is not None and each["line"] is not None:
            yield from (Quote(each["source"], number, text) for number, text in each["context"])
            yield Quote(each["source"], each["line"], each["excerpt"])


def lines_to_read(wanted: Iterable[Quote]) -> dict[str, set[int]]:
    """Return the line numbers that `mismatches` needs, by source."""
    lines: dict[str, set[int]] = defaultdict(set)
    for quote in wanted:
        lines[quote.source].add(quote.line)
    return dict(lines)


def mismatches(
    quoted: Iterable[Quote], texts: Mapping[str, Mapping[int, Sequence[str]] | str]
) -> list[Mismatch]:
    """Return the quotes that are not in their files.

    `texts` has, by source, the texts of each line (several where a progress bar was redrawn), or a reason why
    the source could not be read.
    """
    compared = ((quote, _difference(quote, texts[quote.source])) for quote in quoted)
    return [Mismatch(quote, found) for quote, found in compared if found is not None]


def _difference(quote: Quote, lines: Mapping[int, Sequence[str]] | str) -> str | None:
    """Return what the file has instead of the quote; None if the quote is there."""
    if isinstance(lines, str):
        return f"({lines})"
    texts = lines.get(quote.line)
    first = quote.text.partition("\n")[0]
    if texts is None:
        return "(no such line)" if first.strip() else None
    quoted = [[part.strip() for part in OMITTED.split(each)] for each in (first, _OF_ENTRY.sub("", first))]
    if any(_has_in_order(text, parts) for text in texts for parts in quoted):
        return None
    return texts[0].strip() or "(an empty line)"


def _has_in_order(text: str, parts: Sequence[str]) -> bool:
    """Return True if all parts occur in the text, one after the other."""
    start = 0
    for part in parts:
        found = text.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return True
