"""Renders a diagnosis as a Slack message of Block Kit, the body for an incoming webhook.

Text stands in elements that Slack does not interpret (`rich_text`, `plain_text`), so nothing in it can be a
mention, a link or markup. A message has at most 50 blocks, a header 150 characters, other blocks 3,000.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from analyzer.model.placeholders import shorten
from analyzer.render import decision
from analyzer.render.finding_order import location
from analyzer.render.posts import headline, units
from analyzer.render.sanitize import one_line, visible
from analyzer.render.sections import Section, sections

Json = Mapping[str, Any]
MAX_BLOCKS, MAX_HEADER, MAX_BLOCK = 50, 150, 3_000
_MAX_MESSAGE = 12_000
_MAX_TEXT, _MAX_EXCERPT, _MAX_ITEMS, _MAX_QUOTED = 400, 400, 6, 3


def render(diagnosis: Json) -> str:
    """Return the message as JSON: verdict, answers, reasons, next steps, evidence."""
    title, phrase = headline(diagnosis)
    title = f"{title}: {one_line(diagnosis['run']['name'])}"
    head = [
        {"type": "header", "text": _plain_text(shorten(title, MAX_HEADER))},
        _rich_text(_section(_bold(phrase), _text(f"\n{one_line(diagnosis['summary'], _MAX_TEXT)}"))),
        _rich_text(*_answers(diagnosis)),
    ]
    parts = [block for each in sections(diagnosis) if (block := _rich_text(*_part(each)))]
    made = diagnosis["made_with"]["mwms_analyze"]
    footer = f"mwms-analyze {made} · fingerprint {diagnosis['fingerprint']}"
    context = {"type": "context", "elements": [_plain_text(one_line(footer, 200))]}
    # The text of the notification, in which Slack interprets three characters.
    fallback = one_line(escape(f"{title} · {phrase}", quote=False), MAX_BLOCK)
    message = {"text": fallback, "blocks": [*_fitting(head, parts), context]}
    return json.dumps(message, indent=2, ensure_ascii=False) + "\n"


def _fitting(head: Sequence[Json], parts: Sequence[Json]) -> list[Json]:
    """Return the head and as many parts as fit a message, then the number of parts left out."""
    kept, length = [*head], sum(map(_length, head))
    for n, part in enumerate(parts):
        length += _length(part)
        if length > _MAX_MESSAGE or len(kept) > MAX_BLOCKS - 3:
            left = f"{len(parts) - n} more sections: see the HTML report."
            return [*kept, _rich_text(_section(_text(left)))]
        kept.append(part)
    return kept


def _length(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return the number of UTF-16 code units of all texts in a block."""
    if isinstance(value, Mapping):
        return sum(_length(each) for key, each in value.items() if key not in {"type", "style"})
    if isinstance(value, list | tuple):
        return sum(map(_length, value))
    return units(value) if isinstance(value, str) else 0


def _rich_text(*elements: Json) -> Json:
    """Return a block of the first elements that fit into it; further ones are left out."""
    kept: list[Json] = []
    for element in elements:
        if _length([*kept, element]) > MAX_BLOCK:
            break
        kept.append(element)
    return {"type": "rich_text", "elements": kept}


def _plain_text(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}


def _text(text: str) -> Json:
    return {"type": "text", "text": visible(text)}


def _bold(text: str) -> Json:
    return {"type": "text", "text": one_line(text, _MAX_TEXT) or "—", "style": {"bold": True}}


def _code(text: str) -> Json:
    return {"type": "text", "text": visible(text), "style": {"code": True}}


def _section(*elements: Json) -> Json:
    return {"type": "rich_text_section", "elements": [*elements]}


def _block(text: str) -> Json:
    return {"type": "rich_text_preformatted", "elements": [_text(shorten(visible(text), _MAX_EXCERPT))]}


def _answers(d: Json) -> Iterator[Json]:
    for each in decision.rows(d):
        detail = f" ({one_line(each.detail, _MAX_TEXT)})" if each.detail else ""
        answer = one_line(each.answer, _MAX_TEXT)
        yield _section(_text(f"{each.question} "), _bold(answer), _text(f"{detail}\n"))


def _part(section: Section) -> Iterator[Json]:
    """Yield the elements of a section: its title, and its first items."""
    most = _MAX_QUOTED if section.minor or section.style in {"places", "words"} else _MAX_ITEMS
    yield _section(_bold(section.title))
    for n, each in enumerate(section.items[:most], 1):
        yield from _ITEMS[section.style](n, each)
    if len(section.items) > most:
        yield _section(_text(f"and {len(section.items) - most:,} more\n"))


def _step(n: int, step: Json) -> Iterator[Json]:
    yield _section(_text(f"{n}. {one_line(step['text'], _MAX_TEXT)}\n"))
    if step["command"]:
        yield _block(step["command"])


def _file(_: int, file: tuple[str, str]) -> Iterator[Json]:
    name, reason = (one_line(text, _MAX_TEXT) for text in file)
    yield _section(_text("• "), _code(name), _text(f" {reason}\n"))


def _place(_: int, place: Json) -> Iterator[Json]:
    named = [_code(one_line(location(place), _MAX_TEXT)), _text(" ")] if location(place) else []
    absent = "(no line to quote) " if place["kind"] == "absence" else ""
    yield _section(_text("• "), *named, _text(f"{absent}{one_line(place['says'], _MAX_TEXT)}\n"))
    if place["excerpt"]:
        yield _block(place["excerpt"])


_ITEMS: Mapping[str, Callable[[int, Any], Iterator[Json]]] = {
    "numbered": lambda n, text: iter([_section(_text(f"{n}. {one_line(text, _MAX_TEXT)}\n"))]),
    "bullets": lambda _, text: iter([_section(_text(f"• {one_line(text, _MAX_TEXT)}\n"))]),
    "files": _file,
    "steps": _step,
    "places": _place,
    "words": _place,
}
