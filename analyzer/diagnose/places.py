"""Numbers the places in exports of log services by the lines of the file, as a user finds them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def quoted_sources(document: Mapping[str, Any]) -> set[str]:
    """Return the sources of which the document names a line."""
    return {place["source"] for place in _places(document) if place["source"] and place["line"]}


def number_by_file(document: Mapping[str, Any], lines: Mapping[str, Sequence[int]]) -> None:
    """Replace the numbers of entries by those of lines, in place.

    `lines` has for each source that is an export the line where each entry begins. If it has none, the place
    is marked: its number counts entries, the oldest first.
    """
    seen: set[int] = set()
    for place in _places(document):
        if place["source"] not in lines or place["line"] is None or id(place) in seen:
            continue
        seen.add(id(place))
        if numbers := lines[place["source"]]:
            place["line"] = _line_of(place["line"], numbers)
            if "context" in place:
                place["context"] = [[_line_of(entry, numbers), text] for entry, text in place["context"]]
        else:
            place["counts"] = "entries"


def _line_of(entry: int, numbers: Sequence[int]) -> int:
    return numbers[entry - 1] if entry <= len(numbers) else entry


def _places(document: Mapping[str, Any]) -> Iterator[Json]:
    """Yield every part of the document that names a source and a line."""
    for finding in document["findings"]:
        yield from finding["evidence"]
    for key in ("last_words", "odd_lines", "timeline", "damage"):
        yield from document[key]
    yield from (told["line"] for told in document["telling_lines"])
    yield from (document["against"] or {"lines": ()})["lines"]
