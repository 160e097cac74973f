"""Composes a post for a ticket in some markup: decision, reasons, next steps, evidence.

The last sections are dropped, and named, if they do not fit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from analyzer.model.placeholders import shorten
from analyzer.render import decision
from analyzer.render.finding_order import location
from analyzer.render.sections import Section, sections

Json = Mapping[str, Any]
MAX_EXCERPT = 400
_MAX_ITEMS, _MAX_MINOR = 12, 5
_MAX_SENTENCE = 500


class Markup(Protocol):
    """How a site writes headings, lists and code; every method escapes text from the run.

    `max_characters` is the length of a post in UTF-16 code units, `bullet` begins an item of a list.
    """

    max_characters: int
    bullet: str

    def prose(self, text: str) -> str:
        """Return text as one line without markup, mentions or tags."""

    def code(self, text: str) -> str:
        """Return text as code within a line."""

    def block(self, text: str, indent: str = "") -> str:
        """Return text as a block of code."""

    def heading(self, text: str) -> str:
        """Return escaped text as a heading."""

    def strong(self, text: str) -> str:
        """Return escaped text in bold."""

    def emphasis(self, text: str) -> str:
        """Return escaped text in italics."""

    def table(self, title: str, rows: Iterable[Sequence[str]]) -> str:
        """Return rows of three escaped cells, the second in bold, below a title."""


def post(diagnosis: Json, markup: Markup) -> str:
    """Return the diagnosis as a post that its site accepts."""
    head = [_heading(diagnosis, markup), markup.prose(diagnosis["summary"]), _answers(diagnosis, markup)]
    parts = {each.title: _section(each, markup) for each in sections(diagnosis)}
    version = markup.prose(diagnosis["made_with"]["mwms_analyze"])
    footer = f"mwms-analyze {version} · fingerprint {markup.code(diagnosis['fingerprint'])}"
    return _fitting(head, parts, footer, markup)


def units(text: str) -> int:
    """Return the number of UTF-16 code units, in which Slack and Jira measure length."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def headline(d: Json) -> tuple[str, str]:
    """Return verdict with its sign, and the phrase on who is blamed, the cause and the confidence."""
    verdict, parts = decision.verdict_parts(d)
    return verdict, " · ".join(parts)


def _fitting(head: Sequence[str], parts: Mapping[str, str], footer: str, markup: Markup) -> str:
    """Join the parts to one text; while it is too long, replace the last part by a mention of its title."""
    kept = dict(parts)
    while True:
        cut = [title for title in parts if title not in kept]
        named = f"Left out, to fit a post: {'; '.join(cut)}. The HTML report has it."
        note = [markup.emphasis(named)] if cut else []
        text = "\n\n".join([*filter(None, head), *kept.values(), *note, footer]) + "\n"
        if not kept or units(text) <= markup.max_characters:
            return text
        kept.popitem()


def _heading(d: Json, markup: Markup) -> str:
    verdict, phrase = headline(d)
    if not phrase:
        return markup.heading(verdict)
    name = markup.prose(d["run"]["name"])
    return f"{markup.heading(f'{verdict}: {name}')}\n\n{markup.strong(markup.prose(phrase))}"


def _answers(d: Json, markup: Markup) -> str:
    rows = [(a.question, markup.prose(a.answer), markup.prose(a.detail)) for a in decision.rows(d)]
    return markup.table("Decision", rows)


def _section(section: Section, markup: Markup) -> str:
    most = _MAX_MINOR if section.minor or section.style in _QUOTED else _MAX_ITEMS
    shown = enumerate(section.items[:most], 1)
    lines = [line for n, each in shown for line in _ITEMS[section.style](n, each, markup)]
    if len(section.items) > most and section.style not in _QUOTED:
        lines.append(f"{markup.bullet} and {len(section.items) - most:,} more")
    return "\n".join([markup.strong(markup.prose(section.title)), "", *lines]).rstrip()


def _sentence(text: str, markup: Markup) -> str:
    """Return a rule's sentence as one line, with text between backticks as code."""
    pieces = text[:_MAX_SENTENCE].split("`")
    if len(pieces) % 2 == 0 or not all(map(str.strip, pieces[1::2])):
        return markup.prose(text)
    return "".join(markup.code(piece) if n % 2 else markup.prose(piece) for n, piece in enumerate(pieces))


def _step(n: int, step: Json, markup: Markup) -> Iterator[str]:
    yield f"{n}. {_sentence(step['text'], markup)}"
    if step["command"]:
        yield from ("", markup.block(step["command"], "   "), "")


def _place(_: int, place: Json, markup: Markup) -> Iterator[str]:
    name = markup.code(location(place)) if location(place) else "(no file)"
    absent = "(no line to quote) " if place["kind"] == "absence" else ""
    yield f"{markup.bullet} {name} {absent}{markup.prose(place['says'])}"
    if place["excerpt"]:
        yield from ("", markup.block(shorten(place["excerpt"], MAX_EXCERPT), "  "), "")


def _final_lines(_: int, place: Json, markup: Markup) -> Iterator[str]:
    lines = "\n".join([*(text for _, text in place["context"]), place["excerpt"]])
    yield f"{markup.bullet} {markup.prose(place['says'])} ({markup.code(location(place))}):"
    yield from ("", markup.block(shorten(lines, 3 * MAX_EXCERPT), "  "), "")


_ITEMS: Mapping[str, Callable[[int, Any, Markup], Iterable[str]]] = {
    "numbered": lambda n, text, markup: [f"{n}. {_sentence(text, markup)}"],
    "bullets": lambda _, text, markup: [f"{markup.bullet} {_sentence(text, markup)}"],
    "files": lambda _, file, markup: [f"{markup.bullet} {markup.code(file[0])}: {markup.prose(file[1])}"],
    "steps": _step,
    "places": _place,
    "words": _final_lines,
}
_QUOTED = ("places", "words")
