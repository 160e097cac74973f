"""Logs saved as rich text (RTF), as TextEdit and WordPad do with what is pasted into them."""

import re
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.documents import TextLine

_TOKEN = re.compile(
    r"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<value>-?\d{1,10})? ?|'(?P<byte>[0-9a-fA-F]{2})|(?P<sign>[^a-zA-Z]))"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]",
    re.DOTALL,
)
_BREAKS = frozenset({"par", "line", "row", "sect", "page"})
_ASIDE = frozenset(
    {"fonttbl", "colortbl", "expandedcolortbl", "stylesheet", "info", "pict", "object", "header", "footer",
     "listtable", "listoverridetable", "generator", "themedata", "datastore", "latentstyles"}
)  # fmt: skip
"""Groups whose text is not part of the document."""
_SIGNS = {"~": " ", "_": "-", "\n": "\n", "\r": "\n", "\\": "\\", "{": "{", "}": "}"}
_MAX_CHARS = 2 << 20
_LARGEST, _WRAP = 0x10FFFF, 1 << 16


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the document; none of a large one, which is read as lines."""
    if len(text) > _MAX_CHARS:
        return ()
    return [TextLine("", line) for line in "".join(_shown(text)).split("\n")]


def _shown(text: str) -> Iterator[str]:
    """Yield the characters of the document; what follows one in Unicode stands in for it."""
    hidden = [False]
    stand_in = 0
    for token in _TOKEN.finditer(text):
        shown = _characters(token)[stand_in:]
        stand_in = int(token["word"] == "u")
        if token["brace"] == "{":
            hidden.append(hidden[-1])
        elif token["brace"]:
            hidden[-1:] = [] if len(hidden) > 1 else [False]
        elif token["sign"] == "*" or token["word"] in _ASIDE:
            hidden[-1] = True
        if shown and not hidden[-1]:
            yield shown


def _characters(token: re.Match[str]) -> str:
    """Return what a token shows; nothing for braces, and for words that only set a format."""
    if token["word"] == "u" and token["value"]:
        code = int(token["value"])
        return chr(min(code + _WRAP if code < 0 else code, _LARGEST)) if code > -_WRAP else ""
    if token["word"]:
        return "\n" if token["word"] in _BREAKS else "\t" if token["word"] == "tab" else ""
    if token["byte"]:
        return bytes.fromhex(token["byte"]).decode("cp1252", "replace")
    return token["text"] or _SIGNS.get(token["sign"] or "", "")
