"""Where in a source a part of a record stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def line_at(record: Mapping[str, Any], position: int) -> int:
    """The line of the source in which a position of the record's text lies.

    A record whose lines do not stand together in the source, or whose middle was cut, is named by its first.
    """
    text: str = record["text"]
    first, last = int(record["line"]), int(record["last_line"])
    together = last - first == text.count("\n")
    return first + text.count("\n", 0, position) if together else first
