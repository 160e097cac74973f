"""Renders a diagnosis as Jira's wiki markup, since Jira shows no Markdown; text from the run is escaped.

Jira accepts 32,767 characters; the output has at most 30,000 UTF-16 code units.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.render.posts import MAX_EXCERPT, post
from analyzer.render.sanitize import one_line, visible

_MAX_TEXT = 500
_MARKUP = re.compile(r"[*_\-+^~!|{}\[\]?@]|\((?=[!?/*+\-xyin]|on\)|off\)|flag)|(?<=[:;])[()]")
"""Characters that begin markup, macros, links, images, mentions or emoticons; a backslash escapes them."""
_BACKSLASH = "&#92;"
"""Two backslashes would be a line break."""
_MACRO = re.compile(r"\{(?=noformat)", re.IGNORECASE)


def render(diagnosis: Mapping[str, Any]) -> str:
    """Return the diagnosis as wiki markup: decision, reasons, next steps, evidence."""
    return post(diagnosis, _Jira())


class _Jira:
    """Formats the texts of a post in Jira's wiki markup."""

    max_characters = 30_000
    bullet = "*"

    def prose(self, text: str) -> str:
        line = one_line(text, _MAX_TEXT).replace("\\", _BACKSLASH)
        return _MARKUP.sub(lambda found: f"\\{found[0]}", line)

    def code(self, text: str) -> str:
        return f"{{{{{self.prose(text)}}}}}"

    def block(self, text: str, indent: str = "") -> str:
        del indent  # blocks stand for themselves
        shown = _MACRO.sub("{ ", visible(text[: 4 * MAX_EXCERPT]))
        return f"{{noformat}}\n{shown}\n{{noformat}}"

    def heading(self, text: str) -> str:
        return f"h3. {text}"

    def strong(self, text: str) -> str:
        return f"*{text}*"

    def emphasis(self, text: str) -> str:
        return f"_{text}_"

    def table(self, title: str, rows: Iterable[Sequence[str]]) -> str:
        lines = [f"|{first}|*{second}*|{third or ' '}|" for first, second, third in rows]
        return "\n".join([f"||{title}|| || ||", *lines])
