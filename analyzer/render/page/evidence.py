"""Evidence as the page shows it: numbered places, excerpts with line numbers and marked words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.finding_order import distinct, fired, where
from analyzer.render.page.template import anchor

Json = Mapping[str, Any]


class Piece(NamedTuple):
    """A stretch of a line, matched by the rule or not."""

    text: str
    marked: bool


class Line(NamedTuple):
    """A line of an excerpt, numbered as in its file where known; a hit is evidence, the rest its context."""

    number: int | None
    pieces: tuple[Piece, ...]
    hit: bool


class Place(NamedTuple):
    """One piece of evidence, numbered through the page."""

    n: int
    item: Json
    lines: tuple[Line, ...]

    @property
    def where(self) -> str:
        """Name the place: `worker-1.log:123`."""
        return where(self.item)


class Claim(NamedTuple):
    """A finding that fired, with its places."""

    finding: Json
    anchor: str
    places: tuple[Place, ...]
    leads: bool


def claims(diagnosis: Json, anchors: Mapping[int, str]) -> list[Claim]:
    """Return the findings that fired, the verdict's own rule first, their evidence numbered in that order."""
    made: list[Claim] = []
    for i, finding in fired(diagnosis):
        n = sum(len(c.places) for c in made)
        places = tuple(place(n + k, e) for k, e in enumerate(distinct(finding["evidence"]), 1))
        leads = finding["rule"] == diagnosis["rule"] or (
            diagnosis["rule"] is None and diagnosis["verdict"] != "healthy"
        )
        made.append(Claim(finding, anchors[i], places, leads))
    return made


def place(n: int, item: Json) -> Place:
    """Return a piece of evidence as the n-th of the page, cut into its lines."""
    return Place(n, item, tuple(_lines(item)))


class Cited(NamedTuple):
    """A line that the timeline tells of and no finding quotes; `events` are the numbers that it proves."""

    anchor: str
    events: tuple[int, ...]
    item: Json
    lines: tuple[Line, ...]


def cited(diagnosis: Json, told: Mapping[tuple[str, int], int]) -> list[Cited]:
    """Return the places of the events that are no evidence of a finding, each once, in their order."""
    places: dict[tuple[str, int], list[Json]] = {}
    for event in diagnosis["timeline"]:
        place = (event["source"], event["line"])
        if event["source"] is not None and event["line"] is not None and place not in told:
            places.setdefault(place, []).append(event)
    return [
        Cited(
            f"line-{first['n']}",
            tuple(event["n"] for event in events),
            first,
            (Line(first["line"], (Piece(first["excerpt"], marked=False),), hit=True),)
            if first.get("excerpt")
            else (),
        )
        for first, events in ((events[0], events) for events in places.values())
    ]


def finding_anchors(findings: Sequence[Json]) -> dict[int, str]:
    """Give every finding an anchor of its own, by its rule."""
    taken: dict[str, int] = {}
    anchors = {}
    for i, finding in enumerate(findings):
        name = "finding-" + anchor(finding["rule"])
        taken[name] = taken.get(name, 0) + 1
        anchors[i] = name if taken[name] == 1 else f"{name}.{taken[name]}"
    return anchors


def places_by_line(made: Iterable[Claim]) -> dict[tuple[str, int], int]:
    """Return the number of the evidence at a source and line."""
    found: dict[tuple[str, int], int] = {}
    for claim in made:
        for place in claim.places:
            found.setdefault((place.item["source"], place.item["line"]), place.n)
    return found


def _lines(item: Json) -> Iterable[Line]:
    first = item["line"]
    for number, text in item["context"]:
        yield Line(number, (Piece(text, marked=False),), hit=False)
    if item["excerpt"]:
        for k, pieces in enumerate(_split(_pieces(item["excerpt"], item["marks"]))):
            yield Line(first + k if first else None, pieces, hit=True)


def _pieces(text: str, marks: Sequence[Sequence[int]]) -> Iterable[Piece]:
    """Cut a text at its marks; marks out of order, overlapping or outside it are put right."""
    at = 0
    for start, end in sorted((max(a, 0), min(b, len(text))) for a, b in marks):
        if end > max(start, at):
            yield Piece(text[at : max(start, at)], marked=False)
            yield Piece(text[max(start, at) : end], marked=True)
            at = end
    yield Piece(text[at:], marked=False)


def _split(pieces: Iterable[Piece]) -> Iterable[tuple[Piece, ...]]:
    line: list[Piece] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        line.append(Piece(first, piece.marked))
        for text in rest:
            yield tuple(p for p in line if p.text)
            line = [Piece(text, piece.marked)]
    if any(p.text for p in line):
        yield tuple(p for p in line if p.text)
