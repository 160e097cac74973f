"""The diagnosis as Markdown short enough for GitHub, Jira or Slack; text of the run is never markup.

GitHub takes 65,536 characters, Slack 40,000, Jira 32,767; a post has at most 30,000 UTF-16 code units.
Sections that do not fit are dropped from the end and named. Decision and reasons come first: they fit one
block of a Slack message (3,000 characters).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.render import decision, formatting, phrasing
from analyzer.render.finding_order import leading_evidence, location, unread_sources
from analyzer.render.sanitize import one_line, shorten, visible

Json = Mapping[str, Any]
MAX_CHARACTERS = 30_000
_MAX_TEXT, _MAX_EVIDENCE, _MAX_EXCERPT, _MAX_UNREAD, _MAX_ITEMS = 500, 5, 400, 5, 12
_ESCAPED = re.compile(r"([\\`*_{}\[\]#|~!])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "＠"}


def render(diagnosis: Json) -> str:
    """Return the decision, its reasons, the next steps and the evidence."""
    d = diagnosis
    why, following = phrasing.headings(d)
    head = [_heading(d), prose(d["summary"]), _answers(d)]
    parts = {why: _list(why, d["why"])}
    if why != "Why":
        parts["What differs"] = _list("What differs", phrasing.differences(d), "-")
    parts |= {
        "Most telling lines": _quoted("Most telling lines", phrasing.telling_lines(d)),
        "What would decide": _list("What would decide", phrasing.deciding_file(d), "-"),
        "Last words": _last_words(d),
        "Lines that stand out": _quoted("Lines that stand out", d.get("odd_lines", ())),
        following: _steps(following, d["next"]),
        "Notes": _list("Notes", phrasing.notes(d), "-"),
        "Evidence": _evidence(d),
        "Against a good run": _against(d.get("against")),
        "What else it could be": _alternatives(d),
        "Also seen": _consequences(d),
        "What could not be read": _unread(d),
        "Not collected": _list("Not collected", phrasing.uncollected(d), "-"),
    }
    return _fitting(head, {title: part for title, part in parts.items() if part}, _footer(d))


def _fitting(head: Sequence[str], parts: Mapping[str, str], footer: str) -> str:
    """Return the post; while it is too long, drop its last section and name it."""
    kept = dict(parts)
    while True:
        cut = [title for title in parts if title not in kept]
        said = [f"*Left out, to fit a post: {'; '.join(cut)}. The HTML report has it.*"] if cut else []
        text = "\n\n".join([*filter(None, head), *kept.values(), *said, footer]) + "\n"
        if not kept or _units(text) <= MAX_CHARACTERS:
            return text
        kept.popitem()


def _units(text: str) -> int:
    """Return the number of UTF-16 code units, by which Slack and Jira count."""
    return len(text) + sum(char > "\uffff" for char in text)


def prose(text: str) -> str:
    """Return text of a run as one line with markup, mentions and tags escaped."""
    escaped = _ESCAPED.sub(r"\\\1", one_line(text, _MAX_TEXT))
    return re.sub(r"[&<>@]", lambda m: _ENTITIES[m[0]], escaped)


def code(text: str) -> str:
    """Return text of a run as a code span that its own backticks cannot close."""
    line = one_line(text, _MAX_TEXT).replace("|", "¦")
    fence = "`" * (_longest_run(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def block(text: str, indent: str = "") -> str:
    """Return text of a run as a fenced block that its own backticks cannot close."""
    shown = visible(text[: 4 * _MAX_EXCERPT])
    fence = "`" * max(_longest_run(shown) + 1, 3)
    return "\n".join(indent + line for line in (fence + "text", *shown.split("\n"), fence))


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _heading(d: Json) -> str:
    sign, verdict = decision.VERDICTS[d["verdict"]]
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


def _list(title: str, texts: Sequence[str], sign: str = "1.") -> str:
    return _section(title, iter([*(f"{sign} {prose(text)}" for text in texts[:_MAX_ITEMS]), *_more(texts)]))


def _more(items: Sequence[Any]) -> list[str]:
    left = len(items) - _MAX_ITEMS
    return [f"- and {left:,} more"] if left > 0 else []


def _steps(title: str, steps: Sequence[Json]) -> str:
    lines: list[str] = []
    for n, step in enumerate(steps[:_MAX_ITEMS], 1):
        lines.append(f"{n}. {prose(step['text'])}")
        if step["command"]:
            lines += ["", block(step["command"], "   "), ""]
    return _section(title, iter([*lines, *_more(steps)])).rstrip()


def _evidence(d: Json) -> str:
    return _section(
        "Evidence", (line for place in leading_evidence(d, _MAX_EVIDENCE) for line in _place(place))
    ).rstrip()


def _place(place: Json) -> Iterator[str]:
    name = code(location(place)) if location(place) else "(no file)"
    yield f"- {name} {'(absent) ' if place['kind'] == 'absence' else ''}{prose(place['says'])}"
    if place["excerpt"]:
        yield from ("", block(shorten(place["excerpt"], _MAX_EXCERPT), "  "), "")


def _quoted(title: str, places: Sequence[Json]) -> str:
    return _section(title, (line for place in places[:_MAX_EVIDENCE] for line in _place(place))).rstrip()


def _against(good: Json | None) -> str:
    """Return what differs from a good run, with the lines that it does not have."""
    if good is None:
        return ""
    title = f"Against {prose(good['run'])}, which went well"
    found = phrasing.against(good) or ["No difference in facts, pace and curves."]
    quoted = _quoted("Lines that it does not have", good["lines"])
    return "\n\n".join(filter(None, [_list(title, found, "-"), quoted]))


def _last_words(d: Json) -> str:
    return _section(
        "Last words", (line for place in d["last_words"] for line in _final_lines(place))
    ).rstrip()


def _final_lines(place: Json) -> Iterator[str]:
    lines = "\n".join([*(text for _, text in place["context"]), place["excerpt"]])
    yield f"- {prose(place['says'])} ({code(location(place))}):"
    yield from ("", block(shorten(lines, 3 * _MAX_EXCERPT), "  "), "")


def _consequences(d: Json) -> str:
    found = phrasing.consequences(d)
    said = [f"- {prose(text)}" for text in found[:_MAX_UNREAD]]
    more = [f"- and {len(found) - _MAX_UNREAD:,} more"] if len(found) > _MAX_UNREAD else []
    return _section("Also seen, explained by the above", iter(said + more))


def _alternatives(d: Json) -> str:
    said = (
        f"- {prose(a['cause'])} ({formatting.confidence(a['confidence'])}): {prose(a['against'])}"
        for a in d["alternatives"][:_MAX_ITEMS]
    )
    return _section("What else it could be", iter([*said, *_more(d["alternatives"])]))


def _unread(d: Json) -> str:
    found = unread_sources(d)
    said = [f"- {code(name)}: {prose(reason)}" for name, reason in found[:_MAX_UNREAD]]
    more = [f"- and {len(found) - _MAX_UNREAD:,} more"] if len(found) > _MAX_UNREAD else []
    return _section("What could not be read", iter(said + more))


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"**{title}**\n\n{body}" if body else ""


def _footer(d: Json) -> str:
    made = d["made_with"]
    return f"mwms-analyze {prose(made['mwms_analyze'])} · fingerprint {code(d['fingerprint'])}"
