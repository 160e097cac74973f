"""One line of a collected log without the prefix that its collector added, and parsers of such prefixes."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from analyzer.ingest.logs.collectors.timestamps import split_timestamp

_NUMBER = re.compile(r"\d+")


class CollectedLine(NamedTuple):
    """One line without its prefix; `is_partial` if the next line of its channel continues it."""

    key: str | None
    text: str
    is_partial: bool = False
    channel: str = ""
    """`stdout` or `stderr` if the prefix states it; partial lines are joined per channel."""
    timestamp: str = ""
    """Time of printing as text, empty if the prefix has none."""
    covers_below: bool = False
    """True if the lines without a prefix below have the same origin, up to one that begins with a date."""
    follows: bool = False
    """True if the origin is that of the line above, whatever `key` is."""


Style = Callable[[str], CollectedLine | None]
"""Parses one line of a collector's format; None for a line without that prefix."""


def regex_style(*expressions: str) -> Style:
    """Return a parser of lines: it tries the regexes in turn and returns None if none of them matches.

    The group `text` is required; `key`, `time`, `channel`, `part` (`P` if partial) and `covers_below`, which
    counts if it is not empty, give the fields of `CollectedLine`.
    """
    compiled = [re.compile(expression) for expression in expressions]

    def read(line: str) -> CollectedLine | None:
        for each in compiled:
            if match := each.match(line):
                break
        else:
            return None
        named = match.groupdict("")
        text = named["text"]
        timestamp, text = (named["time"], text) if "time" in named else split_timestamp(text)
        is_partial = named.get("part") == "P"
        channel, covers_below = named.get("channel", ""), bool(named.get("covers_below"))
        return CollectedLine(named.get("key"), text, is_partial, channel, timestamp, covers_below)

    return read


def differ_in_number_only(keys: Sequence[str]) -> bool:
    """Return True if several names differ in a number only, and one recurs, as those of a cluster's nodes."""
    names = {*keys}
    stems = {_NUMBER.sub("0", name) for name in names}
    return 1 < len(names) < len(keys) and len(stems) == 1
