"""The order of entries by time: newest first, oldest first, or neither, as some exports have them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from analyzer.ingest.logs.collectors.structured import unwrapped
from analyzer.ingest.logs.collectors.timestamps import entry_time

_CHECKED_BYTES = 1 << 16
_LEAST_FALLS, _MIN_SHARE = 6, 0.1
"""Entries that are older than the one above, and newer ones, as a share of all, if there is no order."""


def by_time(entries: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    """Return the positions of the entries by time; those of equal time keep the order of printing."""
    times = [entry_time(entry) for entry in entries]
    known = [time for time in times if time is not None]
    places = range(len(entries))
    in_turn = places[::-1] if known and known[0] > known[-1] else places
    if len(known) < len(times):
        return in_turn
    return sorted(in_turn, key=known.__getitem__)


def is_newest_first(path: Path) -> bool:
    """Return True if the first line of a file with an entry a line is newer than the last."""
    first, last = _first_and_last_time(path)
    return first is not None and last is not None and first > last


def is_without_order(path: Path) -> bool:
    """Return True if the times of a file with an entry a line go up and down, as Elasticsearch dumps them."""
    with path.open("rb") as file:
        times = [_line_time(line) for line in file.readlines(_CHECKED_BYTES)]
    known = [time for time in times if time is not None]
    falls = sum(after < before for before, after in pairwise(known))
    rises = sum(after > before for before, after in pairwise(known))
    return falls >= _LEAST_FALLS and min(falls, rises) >= _MIN_SHARE * len(known)


def sorted_lines(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the numbered lines by the times of their entries; unchanged if a line has none."""
    found = [*lines]
    times = [_line_time(line.encode()) for _, line in found]
    known = [time for time in times if time is not None]
    return (
        found
        if len(known) < len(times)
        else [found[at] for at in sorted(range(len(found)), key=known.__getitem__)]
    )


def _first_and_last_time(path: Path) -> tuple[float | None, float | None]:
    """Return the times of a file's first and last line, in seconds since 1970; None without a timestamp."""
    with path.open("rb") as file:
        first = file.readline(1 << 20)
        size = file.seek(0, 2)
        file.seek(max(0, size - _CHECKED_BYTES))
        rest = file.read().split(b"\n")
    return _line_time(first), _line_time(next((line for line in reversed(rest) if line.strip()), b""))


def _line_time(line: bytes) -> float | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry_time(unwrapped(entry)) if isinstance(entry, dict) else None
