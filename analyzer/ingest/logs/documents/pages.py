"""HTML pages of logs, as consoles of CI servers save them: the lines of what is preformatted.

Python's parser of HTML takes time that grows with the square of a damaged page; tags are enough here.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import NoLogsError, TextLine

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]{0,20})(?![\w-])[^<>]{0,2000}>")
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6", "summary"})
_INSIDE = frozenset({*_HEADINGS, "a", "pre"})
"""Elements whose text counts, or is told from the text around it."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of all `pre` elements; their writer is the task named in a heading above.

    Raises:
        NoLogsError: there is no such element.

    """
    stream, lines = "", list[TextLine]()
    for element, content in _texts(text):
        if element in _HEADINGS:
            stream = stream_below(f"[{content.strip().rstrip(':')}]") or stream
        elif content.strip():
            lines += (TextLine(stream, line) for line in content.strip("\n").split("\n"))
    if not lines:
        raise NoLogsError("an HTML page without preformatted text; save the log as text")
    return lines


def _texts(page: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each heading and `pre` element, without numbers of lines that are links."""
    around: list[str] = []
    parts: list[str] = []
    at = 0
    for tag in _TAG.finditer(page):
        text, at = page[at : tag.start()], tag.end()
        if around and not (around[-1] == "a" and text.strip().isdigit()):
            parts.append(text)
        name = tag["name"].lower()
        if name == "br":
            parts.append("\n")
        elif name in _INSIDE and not tag["end"]:
            parts = parts if name == "a" else []
            around.append(name)
        elif name in around:
            while around.pop() != name:
                pass
            if name != "a":
                yield name, unescape("".join(parts))
    if "pre" in around:
        yield "pre", unescape("".join([*parts, page[at:]]))
