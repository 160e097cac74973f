"""Sorts exported entries by time: some exports have the newest first, others no order at all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from analyzer.ingest.logs.collectors.structured import unwrapped
from analyzer.ingest.logs.collectors.timestamps import entry_time

_CHECKED_BYTES = 1 << 16
_LEAST_FALLS, _MIN_SHARE = 6, 0.03
"""Entries that are older than the one above, and newer ones, as a share of all, if there is no order."""
_PLACES, _FAR_SECONDS = 64, 1.0
"""Places of the whole file that are compared, and how far apart the times of two of them are that tell."""


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
    """Return True if the times of a file with an entry a line go up and down, as Elasticsearch dumps them.

    They do so from line to line, or the file was joined from several.
    """
    with path.open("rb") as file:
        opening = [_line_time(line) for line in file.readlines(_CHECKED_BYTES)]
        places = [_time_at(file, path.stat().st_size * place // _PLACES) for place in range(_PLACES)]
    known = [time for time in opening if time is not None]
    falls, rises = _steps(known, 0)
    far_falls, far_rises = _steps([time for time in places if time is not None], _FAR_SECONDS)
    is_dense = falls >= _LEAST_FALLS and min(falls, rises) >= _MIN_SHARE * len(known)
    return is_dense or min(far_falls, far_rises) > 0


def _steps(times: Sequence[float], least: float) -> tuple[int, int]:
    """Return how many times are earlier than the one before, and how many later, by more than `least`."""
    apart = [after - before for before, after in pairwise(times)]
    return sum(each < -least for each in apart), sum(each > least for each in apart)


def _time_at(file: BinaryIO, place: int) -> float | None:
    """Return the time of the first line that begins behind a place."""
    file.seek(place)
    file.readline(_CHECKED_BYTES)
    return _line_time(file.readline(_CHECKED_BYTES))


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
