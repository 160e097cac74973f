"""Text of a run made safe to show: what is invisible, or moves other text, is written out.

A log is written by whoever could reach the job. Escape codes, bidirectional marks and zero-width characters
could hide or reorder what the reader sees, so each becomes a sign that can be seen.
"""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f")  # printable by Unicode, yet nothing is seen
_SPACES = frozenset("\u00a0\u2002\u2003\u2009\u202f\u3000")


def visible(text: str) -> str:
    """Write out every control and invisible character but line ends and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_sign, text.replace("\r\n", "\n")))


def one_line(text: str, limit: int | None = None) -> str:
    """Write `text` visibly on a single line of at most `limit` characters."""
    if limit is not None:
        text = text[: limit + 1]
    line = visible(" ⏎ ".join(text.strip("\n").split("\n")).replace("\t", " "))
    return line if limit is None else shorten(line, limit)


def shorten(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters, the last an ellipsis where something is cut."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _sign(char: str) -> str:
    if char in "\n\t" or (char.isprintable() and char not in _BLANK) or char in _SPACES:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"[U+{code:04X}]"
