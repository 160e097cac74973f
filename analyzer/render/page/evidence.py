"""Evidence as the page shows it: numbered pieces, excerpts with line numbers and marked words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.finding_order import fired_findings, location, unique_evidence
from analyzer.render.page.template import anchor

Json = Mapping[str, Any]


class TextPart(NamedTuple):
    """A part of a line; `marked` if the rule matched it."""

    text: str
    marked: bool


class Line(NamedTuple):
    """A line of an excerpt with its number in the file, if known; a `hit` is evidence, others are context."""

    number: int | None
    pieces: tuple[TextPart, ...]
    hit: bool


class Place(NamedTuple):
    """One piece of evidence with its number on the page (from 1)."""

    n: int
    item: Json
    lines: tuple[Line, ...]

    @property
    def location(self) -> str:
        """Return the source and line as `worker-1.log:123`."""
        return location(self.item)


class Claim(NamedTuple):
    """A finding that fired, with its evidence; `leads` if it is shown unfolded."""

    finding: Json
    anchor: str
    places: tuple[Place, ...]
    leads: bool


def claims(diagnosis: Json, anchors: Mapping[int, str]) -> list[Claim]:
    """Return the findings that fired, the verdict's rule first, with evidence numbered in that order."""
    made: list[Claim] = []
    for i, finding in fired_findings(diagnosis):
        n = sum(len(c.places) for c in made)
        places = tuple(place(n + k, e) for k, e in enumerate(unique_evidence(finding["evidence"]), 1))
        leads = finding["rule"] == diagnosis["rule"] or (
            diagnosis["rule"] is None and diagnosis["verdict"] != "healthy"
        )
        made.append(Claim(finding, anchors[i], places, leads))
    return made


def place(n: int, item: Json) -> Place:
    """Return a piece of evidence as number `n` of the page, split into lines."""
    return Place(n, item, tuple(_lines(item)))


class CitedLine(NamedTuple):
    """A line that only timeline events refer to, and no finding; `events` has their numbers."""

    anchor: str
    events: tuple[int, ...]
    item: Json
    lines: tuple[Line, ...]


def cited(diagnosis: Json, told: Mapping[tuple[str, int], int]) -> list[CitedLine]:
    """Return the distinct lines of timeline events that no finding quotes, in order of the events."""
    places: dict[tuple[str, int], list[Json]] = {}
    for event in diagnosis["timeline"]:
        place = (event["source"], event["line"])
        if event["source"] is not None and event["line"] is not None and place not in told:
            places.setdefault(place, []).append(event)
    return [
        CitedLine(
            f"line-{first['n']}",
            tuple(event["n"] for event in events),
            first,
            (Line(first["line"], (TextPart(first["excerpt"], marked=False),), hit=True),)
            if first.get("excerpt")
            else (),
        )
        for first, events in ((events[0], events) for events in places.values())
    ]


def finding_anchors(findings: Sequence[Json]) -> dict[int, str]:
    """Return a unique HTML id for each finding (by index), made of its rule."""
    taken: dict[str, int] = {}
    anchors = {}
    for i, finding in enumerate(findings):
        name = "finding-" + anchor(finding["rule"])
        taken[name] = taken.get(name, 0) + 1
        anchors[i] = name if taken[name] == 1 else f"{name}.{taken[name]}"
    return anchors


def places_by_line(made: Iterable[Claim]) -> dict[tuple[str, int], int]:
    """Return the number of the first evidence at each (source, line)."""
    found: dict[tuple[str, int], int] = {}
    for claim in made:
        for place in claim.places:
            found.setdefault((place.item["source"], place.item["line"]), place.n)
    return found


def _lines(item: Json) -> Iterable[Line]:
    first = item["line"]
    for number, text in item["context"]:
        yield Line(number, (TextPart(text, marked=False),), hit=False)
    if item["excerpt"]:
        for k, pieces in enumerate(_split(_text_parts(item["excerpt"], item["marks"]))):
            yield Line(first + k if first else None, pieces, hit=True)


def _text_parts(text: str, marks: Sequence[Sequence[int]]) -> Iterable[TextPart]:
    """Split a text at its marks; marks may be unordered, overlap, or lie outside the text."""
    at = 0
    for start, end in sorted((max(a, 0), min(b, len(text))) for a, b in marks):
        if end > max(start, at):
            yield TextPart(text[at : max(start, at)], marked=False)
            yield TextPart(text[max(start, at) : end], marked=True)
            at = end
    yield TextPart(text[at:], marked=False)


def _split(pieces: Iterable[TextPart]) -> Iterable[tuple[TextPart, ...]]:
    line: list[TextPart] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        line.append(TextPart(first, piece.marked))
        for text in rest:
            yield tuple(p for p in line if p.text)
            line = [TextPart(text, piece.marked)]
    if any(p.text for p in line):
        yield tuple(p for p in line if p.text)
