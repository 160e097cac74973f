"""Makes text from a run safe to display: control and invisible characters become visible ones.

Logs are untrusted input: escape codes, bidirectional marks and zero-width characters could hide or reorder
what the reader sees.
"""

from analyzer.model.placeholders import shorten

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f")  # printable according to Unicode, but blank
_SPACES = frozenset("\u00a0\u2002\u2003\u2009\u202f\u3000")


def visible(text: str) -> str:
    """Return the text with every control and invisible character replaced, except line ends and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str, limit: int | None = None) -> str:
    """Return the text as one line of at most `limit` characters, all visible; line ends become ` ⏎ `."""
    if limit is not None:
        text = text[: limit + 1]
    line = visible(" ⏎ ".join(text.strip("\n").split("\n")).replace("\t", " "))
    return line if limit is None else shorten(line, limit)


def keep_ends(text: str, limit: int) -> str:
    """Return the text, cut in the middle to `limit` characters if longer; paths end with file and line."""
    head = limit // 3
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def _visible_character(char: str) -> str:
    if char in "\n\t" or (char.isprintable() and char not in _BLANK) or char in _SPACES:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"[U+{code:04X}]"


class _Visible(dict[int, str]):
    """Maps a code point to what is shown for it, computed once."""

    def __missing__(self, code: int) -> str:
        self[code] = _visible_character(chr(code))
        return self[code]


_VISIBLE = _Visible()
