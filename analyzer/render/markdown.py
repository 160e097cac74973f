"""Renders a diagnosis as Markdown for GitHub or GitLab; text from the run is escaped.

GitHub accepts 65,536 characters; the output has at most 30,000 UTF-16 code units.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.render.posts import MAX_EXCERPT, post
from analyzer.render.sanitize import one_line, visible

MAX_CHARACTERS = 30_000
_MAX_TEXT = 500
_ESCAPED = re.compile(r"([\\`*_{}\[\]#|~!])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "＠"}


def render(diagnosis: Mapping[str, Any]) -> str:
    """Return the diagnosis as Markdown: decision, reasons, next steps, evidence."""
    return post(diagnosis, _Markdown())


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
    shown = visible(text[: 4 * MAX_EXCERPT])
    fence = "`" * max(_longest_run(shown) + 1, 3)
    return "\n".join(indent + line for line in (fence + "text", *shown.split("\n"), fence))


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


class _Markdown:
    """GitHub's Markdown, as a markup of posts."""

    max_characters = MAX_CHARACTERS
    bullet = "-"
    prose = staticmethod(prose)
    code = staticmethod(code)
    block = staticmethod(block)

    def heading(self, text: str) -> str:
        return f"### {text}"

    def strong(self, text: str) -> str:
        return f"**{text}**"

    def emphasis(self, text: str) -> str:
        return f"*{text}*"

    def table(self, title: str, rows: Iterable[Sequence[str]]) -> str:
        lines = [f"| {first} | **{second}** | {third} |" for first, second, third in rows]
        return "\n".join([f"| {title} | | |", "|---|---|---|", *lines])
