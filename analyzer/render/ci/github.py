"""Renders a diagnosis as annotations of GitHub Actions: one workflow command a line, for standard output."""

from collections.abc import Mapping
from typing import Any

from analyzer.render.finding_order import file_line, fired_findings, unique_evidence
from analyzer.render.posts import headline
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
_MAX_TEXT, _MAX_TITLE = 1_000, 120
_MAX_ANNOTATIONS = 10
"""GitHub shows at most ten annotations of a kind in each step."""
_COMMANDS = {"healthy": "notice", "failed": "error"}


def render(diagnosis: Json) -> str:
    """Return the verdict's annotation, then those of the other causes and symptoms as warnings."""
    d = diagnosis
    found = [f for _, f in fired_findings(d) if f["role"] in {"cause", "symptom"} or f["rule"] == d["rule"]]
    own = next((f for f in found if f["rule"] == d["rule"]), None)
    verdict, phrase = headline(d)
    title = f"{verdict} · {phrase}" if phrase else verdict
    lines = [_annotation(_COMMANDS.get(d["verdict"], "warning"), title, d["summary"], own)]
    others = [f for f in found if f is not own][: _MAX_ANNOTATIONS - 1]
    if d["verdict"] != "healthy":
        lines += [_annotation("warning", f["title"], f["summary"] or f["title"], f) for f in others]
    return "".join(f"{line}\n" for line in lines)


def _annotation(command: str, title: str, message: str, finding: Json | None) -> str:
    """Return a workflow command, with file and line of the finding's first evidence."""
    evidence = unique_evidence(finding["evidence"]) if finding else []
    place = next((each for each in evidence if each["source"] is not None), None)
    properties = {"title": one_line(title, _MAX_TITLE)}
    if place:
        properties["file"] = one_line(place["source"], _MAX_TEXT)
    if place and (line := file_line(place)):
        properties["line"] = str(line)
    shown = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{command} {shown}::{_escaped(one_line(message, _MAX_TEXT))}"


def _escaped(text: str, ends: str = "") -> str:
    """Percent-encode `%`, line breaks and the characters in `ends`, for a workflow command."""
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{ends}" else char for char in text)
