"""Renders a diagnosis as text for a terminal: decision, reasons, next steps, evidence."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.model.placeholders import shorten, skip_to_word
from analyzer.render import decision
from analyzer.render.finding_order import location
from analyzer.render.sanitize import keep_ends, one_line, visible
from analyzer.render.sections import sections

Json = Mapping[str, Any]
_TONES = {"failed": "1;31", "degraded": "1;33", "healthy": "1;32", "inconclusive": "1;35"}
_MAX_TEXT, _MAX_MINOR, _EXCERPT_LINES = 600, 6, 3
_PRINTED_BY = re.compile(
    r"[^\n\]]{0,120}? (?:[\w./+-]{0,100}/)?(?P<file>[\w.+-]{1,80}\.(?:cc|cpp|cu|h|py):\d{1,6}\] )"
)
"""Regex for the prefix of a line of C++ logging, up to its message."""
_NODE = re.compile(r"\{\{(?:function_)?node [^{}\n]{0,300}\}\}")
"""Regex for the name of a graph's node before a message of TensorFlow."""


def render(diagnosis: Json) -> str:
    """Return the diagnosis as plain text without colour, 100 columns wide."""
    return terminal(diagnosis, colour=False, width=100)


def terminal(diagnosis: Json, *, colour: bool, width: int) -> str:
    """Return the diagnosis as text, wrapped at `width` columns (at least 40), with ANSI colours if set."""
    page = _Page(diagnosis, _Paint(colour, _TONES[diagnosis["verdict"]]), max(width, 40))
    return "\n".join(page.lines()) + "\n"


class _Paint(NamedTuple):
    """Wraps text in ANSI colour codes if `on`, else returns it unchanged."""

    on: bool
    tone: str

    def __call__(self, text: str, code: str | None = None) -> str:
        return f"\x1b[{code or self.tone}m{text}\x1b[0m" if self.on and text else text

    def bold(self, text: str) -> str:
        return self(text, "1")

    def faint(self, text: str) -> str:
        return self(text, "2")


class _Page(NamedTuple):
    """Yields the lines of the text; there is a method for each `style` of sections."""

    diagnosis: Json
    paint: _Paint
    width: int

    def lines(self) -> Iterator[str]:
        yield from self.decision()
        for title, style, items, minor in sections(self.diagnosis):
            shown = items[:_MAX_MINOR] if minor else items
            yield from ("", self.paint.bold(title), *getattr(self, style)(shown))
            if len(items) > len(shown):
                yield f"  - and {len(items) - len(shown):,} more"
        if masked := self.diagnosis["made_with"]["options"].get("masked"):
            yield from ("", self.paint.faint(f"Secrets masked: {masked}"))

    def decision(self) -> Iterator[str]:
        d = self.diagnosis
        verdict, parts = decision.verdict_parts(d)
        head = "  ".join([self.paint(verdict.upper()), *map(self.paint.bold, parts)])
        yield head + self.paint.faint(f"  {one_line(d['run']['name'], 60)}")
        yield ""
        yield from self.wrapped(one_line(d["summary"], _MAX_TEXT))
        yield ""
        answers = decision.rows(d)
        column = max(len(a.question) for a in answers) + 2
        for a in answers:
            detail = f" ({a.detail})" if a.detail else ""
            label = f"  {a.question:<{column}}"
            yield from self.wrapped(one_line(a.answer, _MAX_TEXT) + detail, label, " " * len(label))

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

    def files(self, unread: Sequence[tuple[str, str]]) -> Iterator[str]:
        for name, reason in unread:
            yield from self.wrapped(f"{one_line(name, 80)}: {one_line(reason, 200)}", "  - ", "    ")

    def places(self, evidence: Sequence[Json]) -> Iterator[str]:
        room = self.width - 6
        for place in evidence:
            name = keep_ends(one_line(location(place) or place["worker"] or "all files"), 60)
            absent = "(no line to quote) " if place["kind"] == "absence" and not place["excerpt"] else ""
            statement = place["says"] if location(place) else place["says"].removeprefix(f"{name} ")
            statement = one_line(f"{absent}{statement}", _MAX_TEXT)
            first, *rest = self.wrapped(f"{name}  {statement}".rstrip(), "  ", " " * 6)
            yield from (first.replace(name, self.paint(name, "36"), 1), *rest)
            if place["excerpt"]:
                plain = place["excerpt"] if place["marks"] else _without_prefix(place["excerpt"], room)
                part = _marked_part({**place, "excerpt": plain}, room * (1 if place["marks"] else 2))
                shown = one_line(part, _EXCERPT_LINES * room)
                yield from (" " * 6 + self.paint.faint(line) for line in textwrap.wrap(shown, room))

    def words(self, evidence: Sequence[Json]) -> Iterator[str]:
        for place in evidence:
            statement = f"{one_line(place['says'], 80)} ({keep_ends(one_line(location(place)), 80)}):"
            yield from self.wrapped(statement, "  ", "    ")
            for text in (*(text for _, text in place["context"]), *place["excerpt"].split("\n")):
                yield " " * 6 + one_line(_without_prefix(text, self.width - 6), self.width - 6)


def _without_prefix(text: str, room: int) -> str:
    """Return a line of TensorFlow, without its prefix or the node that it names if longer than `room`.

    Level, time, process ID and directories take half a line of the terminal; without them the message fits.
    """
    if len(text) <= room:
        return text
    printed = _PRINTED_BY.match(text)
    return f"…{text[printed.start('file') :]}" if printed else _NODE.sub("…", text)


def _marked_part(place: Json, room: int) -> str:
    """Return the part of an excerpt that has all marked words; without marks, its first line.

    It has at most `room` characters, or as many as the marked words need.
    """
    text: str = place["excerpt"] if place["marks"] else _without_prefix(place["excerpt"], room)
    first = min((start for start, _ in place["marks"]), default=0)
    line = text.rfind("\n", 0, max(first, 0)) + 1
    far = first - line > room // 2
    start = skip_to_word(text, first - room // 4, first) if far else line
    last = max((end for _, end in place["marks"]), default=0)
    return "…" * far + shorten(text[start:].rstrip(), room - far, last - start)
