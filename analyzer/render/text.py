"""The diagnosis as text for a terminal: the decision first, then reasons, next steps and evidence."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render import decision, formatting, phrasing
from analyzer.render.explain import near_misses
from analyzer.render.finding_order import leading_evidence, location, unread_sources
from analyzer.render.sanitize import one_line, shorten, visible

Json = Mapping[str, Any]
_TONES = {"failed": "1;31", "degraded": "1;33", "healthy": "1;32", "inconclusive": "1;35"}
_MAX_TEXT, _MAX_EVIDENCE, _MAX_UNREAD, _MAX_SEEN = 600, 12, 6, 6


def render(diagnosis: Json) -> str:
    """Return plain text without colour, 100 columns wide."""
    return terminal(diagnosis, colour=False, width=100)


def terminal(diagnosis: Json, *, colour: bool, width: int) -> str:
    """Return the page for a terminal `width` columns wide, with ANSI colours if `colour` is set."""
    page = _Page(diagnosis, _Paint(colour, _TONES[diagnosis["verdict"]]), max(width, 40))
    return "\n".join(page.lines()) + "\n"


class _Paint(NamedTuple):
    """Wraps text in ANSI colour codes, if `on`."""

    on: bool
    tone: str

    def __call__(self, text: str, code: str | None = None) -> str:
        return f"\x1b[{code or self.tone}m{text}\x1b[0m" if self.on and text else text

    def bold(self, text: str) -> str:
        return self(text, "1")

    def faint(self, text: str) -> str:
        return self(text, "2")


class _Page(NamedTuple):
    diagnosis: Json
    paint: _Paint
    width: int

    def lines(self) -> Iterator[str]:
        d = self.diagnosis
        why, following = phrasing.headings(d)
        yield from self.decision()
        yield from self.section(why, self.numbered(d["why"]))
        if why != "Why":
            yield from self.section("What differs", self.bullets(phrasing.differences(d)))
            yield from self.section("What nearly fired", self.bullets(near_misses(d)))
        yield from self.section("Most telling lines", self.quoted(phrasing.telling_lines(d)))
        yield from self.section("What would decide", self.bullets(phrasing.deciding_file(d)))
        yield from self.section("Last words", self.last_words())
        yield from self.section("Lines that stand out", self.quoted(d.get("odd_lines", ())))
        yield from self.section(following, self.steps(d["next"]))
        yield from self.section("Notes", self.bullets(phrasing.notes(d)))
        yield from self.section("Evidence", self.evidence())
        if good := d.get("against"):
            title = f"Against {one_line(good['run'], 60)}"
            yield from self.section(title, self.against(good))
        yield from self.section("What XProf says", self.bullets(phrasing.of_xprof(d)))
        yield from self.section("What else it could be", self.alternatives())
        yield from self.section("Also seen, explained by the above", self.consequences())
        yield from self.section("What could not be read", self.unread_sources())
        yield from self.section("Not collected", self.bullets(phrasing.uncollected(d)))
        if masked := d["made_with"]["options"].get("masked"):
            yield from ("", self.paint.faint(f"Secrets masked: {masked}"))

    def decision(self) -> Iterator[str]:
        d = self.diagnosis
        sign, verdict = decision.VERDICTS[d["verdict"]]
        title, workers = decision.blamed(d)
        known = d["cause"] if d["cause"] not in (None, "healthy") else ""
        parts = [
            f"{title} {workers}" if workers else "",
            one_line(known, 80),
            decision.confidence_phrase(d),
        ]
        head = self.paint(f"{sign} {verdict.upper()}") + "".join(
            f"  {self.paint.bold(p)}" for p in parts if p
        )
        yield head + self.paint.faint(f"  {one_line(d['run']['name'], 60)}")
        yield ""
        yield from self.wrapped(one_line(d["summary"], _MAX_TEXT))
        yield ""
        answers = decision.answers(d)
        column = max(len(a.question) for a in answers) + 2
        for a in answers:
            detail = f" ({a.detail})" if a.detail else ""
            label = f"  {a.question:<{column}}"
            yield from self.wrapped(one_line(a.answer, _MAX_TEXT) + detail, label, " " * len(label))

    def section(self, title: str, lines: Iterator[str]) -> Iterator[str]:
        body = list(lines)
        if body:
            yield from ("", self.paint.bold(title), *body)

    def wrapped(self, text: str, first: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(
            text, self.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )

    def numbered(self, texts: Sequence[str]) -> Iterator[str]:
        for n, text in enumerate(texts, 1):
            yield from self.wrapped(one_line(text, _MAX_TEXT), f"  {n}. ", "     ")

    def bullets(self, texts: Sequence[str]) -> Iterator[str]:
        for text in texts:
            yield from self.wrapped(one_line(text, _MAX_TEXT), "  - ", "    ")

    def steps(self, steps: Sequence[Json]) -> Iterator[str]:
        for n, step in enumerate(steps, 1):
            yield from self.wrapped(one_line(step["text"], _MAX_TEXT), f"  {n}. ", "     ")
            for line in visible(step["command"] or "")[: 4 * _MAX_TEXT].splitlines():
                yield "       " + self.paint(line, "36")

    def evidence(self) -> Iterator[str]:
        for place in leading_evidence(self.diagnosis, _MAX_EVIDENCE):
            name = location(place) or place["worker"] or "all files"
            absent = "(absent) " if place["kind"] == "absence" else ""
            said = place["says"] if location(place) else place["says"].removeprefix(f"{name} ")
            yield from self.place(name, f"{absent}{said}")
            if place["excerpt"]:
                room = self.width - 6
                yield " " * 6 + self.paint.faint(one_line(_from_mark(place, place["excerpt"], room), room))

    def place(self, name: str, said: str) -> Iterator[str]:
        name = one_line(name, 60)
        said = one_line(said, _MAX_TEXT)
        first, *rest = self.wrapped(f"{name}  {said}".rstrip(), "  ", " " * 6)
        yield first.replace(name, self.paint(name, "36"), 1)
        yield from rest

    def last_words(self) -> Iterator[str]:
        for place in self.diagnosis["last_words"]:
            said = f"{one_line(place['says'], 80)} ({one_line(location(place), 80)}):"
            yield from self.wrapped(said, "  ", "    ")
            for text in (*(text for _, text in place["context"]), *place["excerpt"].split("\n")):
                yield " " * 6 + one_line(text, self.width - 6)

    def quoted(self, evidence: Sequence[Json]) -> Iterator[str]:
        for place in evidence:
            yield from self.place(location(place), place["says"])
            yield " " * 6 + self.paint.faint(one_line(place["excerpt"], self.width - 6))

    def against(self, good: Json) -> Iterator[str]:
        found = phrasing.against(good)
        yield from self.bullets(found or ["No difference in facts, pace and curves."])
        yield from self.quoted(good["lines"])

    def alternatives(self) -> Iterator[str]:
        for other in self.diagnosis["alternatives"]:
            workers = f" of {formatting.names(other['culprits'])}" if other["culprits"] else ""
            sure = f"{formatting.confidence(other['confidence'])}, {formatting.percent(other['confidence'])}"
            said = (
                f"{one_line(other['cause'], 80)}{workers} ({sure}): {one_line(other['against'], _MAX_TEXT)}"
            )
            yield from self.wrapped(said, "  - ", "    ")

    def consequences(self) -> Iterator[str]:
        found = phrasing.consequences(self.diagnosis)
        yield from self.bullets(found[:_MAX_SEEN])
        if len(found) > _MAX_SEEN:
            yield f"  - and {len(found) - _MAX_SEEN:,} more"

    def unread_sources(self) -> Iterator[str]:
        found = unread_sources(self.diagnosis)
        for name, reason in found[:_MAX_UNREAD]:
            yield from self.wrapped(
                f"{shorten(one_line(name, 80), 80)}: {one_line(reason, 200)}", "  - ", "    "
            )
        if len(found) > _MAX_UNREAD:
            yield f"  - and {len(found) - _MAX_UNREAD:,} more"


def _from_mark(place: Json, text: str, room: int) -> str:
    """Return a long excerpt from just before its first mark, so that the mark fits in `room` characters."""
    first = min((a for a, _ in place["marks"]), default=0)
    start = text.rfind("\n", 0, max(first, 0)) + 1
    if first - start > room // 2:
        return "…" + text[first - room // 4 : first + 4 * room]
    return text[start : start + 4 * room]
