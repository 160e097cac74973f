"""Prepares evidence for the page: numbered pieces, excerpts with line numbers and marked words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.finding_order import fired_findings, identity_keys, unique_evidence
from analyzer.render.page.template import anchor

Json = Mapping[str, Any]


class TextPart(NamedTuple):
    """A part of a line; `marked` is True for words that the rule matched."""

    text: str
    marked: bool = False


class Line(NamedTuple):
    """A line of an excerpt with its line number, if known; `hit` is False for context lines."""

    number: int | None
    pieces: tuple[TextPart, ...]
    hit: bool


def claims(diagnosis: Json, anchors: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return the fired findings, that of the verdict first, with evidence numbered in that order.

    `leads` is True for findings that are shown unfolded. A place that an earlier finding quotes has no lines;
    its `quoted` is the number of the evidence that has them.
    """
    made: list[dict[str, Any]] = []
    quoted: dict[tuple[Any, ...], int] = {}
    n = 1
    unexplained = diagnosis["rule"] is None and diagnosis["verdict"] != "healthy"
    for i, finding in fired_findings(diagnosis):
        places = numbered(unique_evidence(finding["evidence"]), n)
        leads = unexplained or finding["rule"] == diagnosis["rule"]
        _refer_back(places, quoted)
        made.append({"finding": finding, "anchor": anchors[i], "places": places, "leads": leads})
        n += len(places)
    return made


def _refer_back(places: Iterable[dict[str, Any]], quoted: dict[tuple[Any, ...], int]) -> None:
    """Replace the lines of places that `quoted` has by its number, and add the others to it."""
    for place in places:
        keys = identity_keys(place["item"])
        if first := next((quoted[key] for key in keys if key in quoted), None):
            place |= {"quoted": first, "lines": []}
        quoted |= dict.fromkeys(keys - quoted.keys(), first or place["n"])


def numbered(items: Iterable[Json], first: int = 1) -> list[dict[str, Any]]:
    """Return pieces of evidence, each with its number on the page and its lines."""
    return [
        {"n": n, "item": item, "lines": list(_lines(item)), "quoted": None}
        for n, item in enumerate(items, first)
    ]


def cited(diagnosis: Json, quoted: Mapping[tuple[str, int], int]) -> list[dict[str, Any]]:
    """Return the distinct lines of timeline events that no finding quotes, in order of the events.

    The keys of `quoted` are the (source, line) that findings quote; the entry `events` of a line has the
    numbers of its events.
    """
    made: dict[tuple[str, int], dict[str, Any]] = {}
    for event in diagnosis["timeline"]:
        at = (event["source"], event["line"])
        if None not in at and at not in quoted:
            text = event.get("excerpt")
            excerpt = [Line(event["line"], (TextPart(text),), hit=True)] if text else []
            new = {"anchor": f"line-{event['n']}", "events": [], "item": event, "lines": excerpt}
            made.setdefault(at, new)["events"].append(event["n"])
    return list(made.values())


def finding_anchors(findings: Sequence[Json]) -> dict[int, str]:
    """Return a unique HTML id for each finding, by index, derived from the rule's name."""
    taken: dict[str, int] = {}
    anchors = {}
    for i, finding in enumerate(findings):
        name = "finding-" + anchor(finding["rule"])
        taken[name] = taken.get(name, 0) + 1
        anchors[i] = name if taken[name] == 1 else f"{name}.{taken[name]}"
    return anchors


def places_by_line(made: Iterable[Json]) -> dict[tuple[str, int], int]:
    """Return the number of the first evidence at each (source, line)."""
    places = [place for claim in made for place in claim["places"]]
    return {(place["item"]["source"], place["item"]["line"]): place["n"] for place in reversed(places)}


def _lines(item: Json) -> Iterator[Line]:
    first = item["line"]
    for number, text in item["context"]:
        yield Line(number, (TextPart(text),), hit=False)
    if item["excerpt"]:
        for k, pieces in enumerate(_split(_text_parts(item["excerpt"], item["marks"]))):
            yield Line(first + k if first else None, pieces, hit=True)


def _text_parts(text: str, marks: Sequence[Sequence[int]]) -> Iterator[TextPart]:
    """Split a text into marked and unmarked parts; marks may overlap or exceed the text."""
    at = 0
    for start, end in sorted((max(a, 0), min(b, len(text))) for a, b in marks):
        if end > max(start, at):
            yield TextPart(text[at : max(start, at)])
            yield TextPart(text[max(start, at) : end], marked=True)
            at = end
    yield TextPart(text[at:])


def _split(pieces: Iterable[TextPart]) -> Iterator[tuple[TextPart, ...]]:
    line: list[TextPart] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        line.append(TextPart(first, piece.marked))
        for text in rest:
            yield tuple(p for p in line if p.text)
            line = [TextPart(text, piece.marked)]
    if any(p.text for p in line):
        yield tuple(p for p in line if p.text)
