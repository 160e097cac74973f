"""Renders a diagnosis as Markdown for GitHub, Jira or Slack; text from the run is escaped.

GitHub accepts 65,536 characters, Slack 40,000, Jira 32,767; the output has at most 30,000 UTF-16 code units.
The last sections are dropped, and named, if they do not fit. Decision and reasons come first, so that they
fit one block of a Slack message (3,000 characters).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from analyzer.render import decision
from analyzer.render.finding_order import location
from analyzer.render.sanitize import one_line, shorten, visible
from analyzer.render.sections import Section, sections

Json = Mapping[str, Any]
MAX_CHARACTERS = 30_000
_MAX_TEXT, _MAX_EXCERPT, _MAX_ITEMS, _MAX_MINOR = 500, 400, 12, 5
_ESCAPED = re.compile(r"([\\`*_{}\[\]#|~!])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "＠"}


def render(diagnosis: Json) -> str:
    """Return the diagnosis as Markdown: decision, reasons, next steps, evidence."""
    d = diagnosis
    head = [_heading(d), prose(d["summary"]), _answers(d)]
    return _fitting(head, {each.title: _section(each) for each in sections(d)}, _footer(d))


def _fitting(head: Sequence[str], parts: Mapping[str, str], footer: str) -> str:
    """Join the parts to one text; drop and name the last sections until it fits `MAX_CHARACTERS`."""
    kept = dict(parts)
    while True:
        cut = [title for title in parts if title not in kept]
        said = [f"*Left out, to fit a post: {'; '.join(cut)}. The HTML report has it.*"] if cut else []
        text = "\n\n".join([*filter(None, head), *kept.values(), *said, footer]) + "\n"
        if not kept or _units(text) <= MAX_CHARACTERS:
            return text
        kept.popitem()


def _units(text: str) -> int:
    """Return the number of UTF-16 code units, in which Slack and Jira measure length."""
    return len(text) + sum(char > "\uffff" for char in text)


def prose(text: str) -> str:
    """Return text from a run as one line with markup, mentions and tags escaped."""
    escaped = _ESCAPED.sub(r"\\\1", one_line(text, _MAX_TEXT))
    return re.sub(r"[&<>@]", lambda m: _ENTITIES[m[0]], escaped)


def code(text: str) -> str:
    """Return text from a run as a code span that backticks in the text cannot close."""
    line = one_line(text, _MAX_TEXT).replace("|", "¦")
    fence = "`" * (_longest_run(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def block(text: str, indent: str = "") -> str:
    """Return text from a run as a fenced code block that backticks in the text cannot close."""
    shown = visible(text[: 4 * _MAX_EXCERPT])
    fence = "`" * max(_longest_run(shown) + 1, 3)
    return "\n".join(indent + line for line in (fence + "text", *shown.split("\n"), fence))


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _heading(d: Json) -> str:
    sign, verdict = decision.wording()["verdicts"][d["verdict"]]
    title, workers = decision.blamed(d)
    known = prose(d["cause"]) if d["cause"] not in (None, "healthy") else ""
    said = " · ".join(
        part for part in (f"{title} {workers}".strip(), known, decision.confidence_phrase(d)) if part
    )
    return (
        f"### {sign} {verdict}: {prose(d['run']['name'])}\n\n**{said}**" if said else f"### {sign} {verdict}"
    )


def _answers(d: Json) -> str:
    rows = [f"| {a.question} | **{prose(a.answer)}** | {prose(a.detail)} |" for a in decision.answers(d)]
    return "\n".join(["| Decision | | |", "|---|---|---|", *rows])


def _section(section: Section) -> str:
    most = _MAX_MINOR if section.minor or section.style in _QUOTED else _MAX_ITEMS
    shown = enumerate(section.items[:most], 1)
    lines = [line for n, each in shown for line in _ITEMS[section.style](n, each)]
    if len(section.items) > most and section.style not in _QUOTED:
        lines.append(f"- and {len(section.items) - most:,} more")
    return "\n".join([f"**{prose(section.title)}**", "", *lines]).rstrip()


def _step(n: int, step: Json) -> Iterator[str]:
    yield f"{n}. {prose(step['text'])}"
    if step["command"]:
        yield from ("", block(step["command"], "   "), "")


def _place(place: Json) -> Iterator[str]:
    name = code(location(place)) if location(place) else "(no file)"
    yield f"- {name} {'(absent) ' if place['kind'] == 'absence' else ''}{prose(place['says'])}"
    if place["excerpt"]:
        yield from ("", block(shorten(place["excerpt"], _MAX_EXCERPT), "  "), "")


def _final_lines(place: Json) -> Iterator[str]:
    lines = "\n".join([*(text for _, text in place["context"]), place["excerpt"]])
    yield f"- {prose(place['says'])} ({code(location(place))}):"
    yield from ("", block(shorten(lines, 3 * _MAX_EXCERPT), "  "), "")


_ITEMS: Mapping[str, Callable[[int, Any], Iterable[str]]] = {
    "numbered": lambda n, text: [f"{n}. {prose(text)}"],
    "bullets": lambda _, text: [f"- {prose(text)}"],
    "files": lambda _, file: [f"- {code(file[0])}: {prose(file[1])}"],
    "steps": _step,
    "places": lambda _, place: _place(place),
    "words": lambda _, place: _final_lines(place),
}
_QUOTED = ("places", "words")


def _footer(d: Json) -> str:
    made = d["made_with"]
    return f"mwms-analyze {prose(made['mwms_analyze'])} · fingerprint {code(d['fingerprint'])}"
