"""Finds the lines of a JSON file where the elements of its list begin, or its objects if it has no list."""

import json
import re
from collections.abc import Sequence
from typing import Any

_NEXT = re.compile(r"[\s,\x1e]*")
"""Regex for what stands between two values; RFC 7464 has a record separator."""


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


def objects_in_turn(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the line, from 1, and the value of each of the objects that follow one another.

    `journalctl -o json-pretty` and `jq` break each of them over lines. None are returned if anything else
    follows them, except an object that breaks off.
    """
    decode, found = json.JSONDecoder().raw_decode, list[tuple[int, dict[str, Any]]]()
    at, line, counted = _skip(text, 0), 1, 0
    while at < len(text) and text[at] == "{":
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, end = decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append((line, value))
        at = _skip(text, end)
    return found if at == len(text) or text[at] == "{" else []
