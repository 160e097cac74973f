"""Finds the lines of a JSON file where the elements of its list begin."""

import json
import re
from collections.abc import Sequence

_NEXT = re.compile(r"[\s,]*")


def lines_of_elements(data: bytes, count: int) -> Sequence[int]:
    """Return the line, from 1, of each object in the list of a JSON text; none if there are not `count`.

    The list is the first one that holds an object, as in `{"hits": {"hits": [{`.
    """
    text = data.decode("utf-8", "replace")
    first = re.search(r"\[\s*\{", text)
    if first is None:
        return ()
    decode, found = json.JSONDecoder().raw_decode, list[int]()
    at, line, counted = first.start() + 1, 1, 0
    while (at := _skip(text, at)) < len(text) and text[at] == "{":
        line, counted = line + text.count("\n", counted, at), at
        found.append(line)
        _, at = decode(text, at)
    return found if len(found) == count else ()


def _skip(text: str, at: int) -> int:
    """Return where the next element or the end of a list begins."""
    blank = _NEXT.match(text, at)
    return blank.end() if blank else at
