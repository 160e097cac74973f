"""Shortens texts and container IDs, and recognizes the marks that stand for what was masked or cut."""

import re

SECRET = re.compile(r"\[secret:[a-z-]{2,20}:[0-9a-f]{4}\]")
"""Regex for the mask of a secret: its kind, and four digits, equal for equal secrets of a diagnosis."""

OMITTED = re.compile(rf"{SECRET.pattern}|… \d+ characters cut …|…$")
"""Regex for the mask of a secret, or of the middle or the end of a very long line."""

_CONTAINER_ID = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def short_ids(text: str) -> str:
    """Return the text with each container ID, 64 hexadecimal digits, cut to the 12 that Docker shows."""
    return _CONTAINER_ID.sub(r"\1", text)


def shorten(text: str, limit: int, kept: int = 0) -> str:
    """Return the text, cut to `limit` characters with an ellipsis at the end if it is longer.

    The cut is after a word, or in the last word if that is long, and never in the first `kept` characters.
    """
    if len(text) <= max(limit, kept):
        return text
    end = max(limit - 1, kept)
    space = text.rfind(" ", max(2 * limit // 3, kept), end)
    return f"{text[:space]} …" if space > 0 else f"{text[:end]}…"


def skip_to_word(text: str, start: int, end: int) -> int:
    """Return the offset of the first word that begins in `text[start:end]`; `start` if none does."""
    return text.find(" ", max(start - 1, 0), end) + 1 or start
