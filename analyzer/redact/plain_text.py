"""Undoes what hides a secret from patterns: escapes, invisible characters, line breaks within a word."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

_INVISIBLE = (
    r"\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_WORD = r"[\w+/=.~%:@!$-]"
_HIDDEN = re.compile(
    r"\\{1,4}u(?P<u>[0-9a-fA-F]{4})|\\{1,4}x(?P<x>[2-7][0-9a-fA-F])|%(?P<percent>[2-7][0-9a-fA-F])"
    r"|(?P<html>&(?:#\d{2,3}|#x[0-9a-fA-F]{2,4}|quot|amp|apos|lt|gt);)"
    r"|\\(?P<letter>[nrt\"'/])"
    r"|\x1b\[[\d;]{0,12}[A-Za-z]"
    r"|(?P<wrap>(?<=[\w+/=.~-])\r?\n(?=[ \t]*[^\s\d]{0,200}\d)(?=[ \t]*[^\sA-Za-z]{0,200}[A-Za-z])"
    rf"(?:[ \t]+(?={_WORD}{{8,200}})|(?={_WORD}{{6,200}}[\"',;)\]}}]{{0,3}}[ \t]*(?:\n|\Z))))"
    rf"|[{_INVISIBLE}]"
)
_HINT = re.compile(rf"[\\%&\n{_INVISIBLE}]")
"""Regex for a character that every match of `_HIDDEN` contains: a faster first check."""
_LETTERS: Mapping[str, str] = {"n": "\n", "r": "", "t": "\t"}


class PlainText(NamedTuple):
    """A text with its hidden parts made readable; for each character, its (start, end) in the original."""

    text: str
    places: list[tuple[int, int]]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original text of a non-empty span in the plain text."""
        return self.places[start][0], self.places[end - 1][1]


def plain(text: str) -> PlainText | None:
    """Return the text with escapes and invisible characters undone; None if there are none."""
    if not (_HINT.search(text) and _HIDDEN.search(text)):
        return None
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    for match in _HIDDEN.finditer(text):
        shown = _shown(match)
        parts += text[at : match.start()], shown
        places += zip(range(at, match.start()), range(at + 1, match.start() + 1), strict=True)
        places += [match.span()] * len(shown)
        at = match.end()
    places += zip(range(at, len(text)), range(at + 1, len(text) + 1), strict=True)
    return PlainText("".join([*parts, text[at:]]), places)


def pieces(text: str) -> list[str]:
    """Return the parts of a text between escapes and invisible characters."""
    ends = [0, *(at for match in _HIDDEN.finditer(text) for at in match.span()), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]


def _entity(text: str) -> str:
    from html import unescape  # its table of 2,231 names, for the few logs that hold one

    return unescape(text)


_UNDO: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("u", "x", "percent"), lambda digits: chr(int(digits, 16))),
    "html": _entity,
    "letter": lambda letter: _LETTERS.get(letter, letter),
    "wrap": lambda _: "",
}


def _shown(match: re.Match[str]) -> str:
    """Return what an escape stands for, or nothing for an invisible character."""
    return _UNDO[match.lastgroup](match[match.lastgroup]) if match.lastgroup else ""
