"""Formats values for all renderers: confidence, times, sizes, numbers, workers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from analyzer.model.findings import LEVELS

_UNSTATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Date of times of day in a log that states no date; its year is that of dates without a year."""


def confidence(value: float) -> str:
    """Return the name of the highest level that a confidence between 0 and 1 reaches, such as `likely`."""
    return next((name for name, share in reversed([*LEVELS.items()]) if value >= share - 0.005), "weak")


def percent(value: float) -> str:
    """Return a share between 0 and 1 as a percentage: `75 %`."""
    return f"{value:.0%}".replace("%", " %")


def instant(value: float | None, *, date: bool = True, zone: str = "UTC") -> str:
    """Return seconds since the epoch as `2026-11-21 01:40:37.754 UTC`; without `date`, only the time.

    A year or a date that no file states is left out, as is a `zone` other than UTC.
    """
    if (at := moment(value)) is None:
        return "time unknown"
    clock = f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
    if not date:
        return clock
    suffix = " UTC" if zone == "UTC" else ""
    if at.date() == _UNSTATED.date():
        return f"{clock}{suffix}"
    day = f"{at:%m-%d}" if at.year == _UNSTATED.year else at.date().isoformat()
    return f"{day} {clock}{suffix}"


def time_zone(diagnosis: Mapping[str, Any]) -> str:
    """Return the time zone of a diagnosis's times: `UTC`, `unstated` or `mixed`."""
    return str(diagnosis["run"].get("time_zone", "UTC"))


def moment(value: float | None) -> datetime | None:
    """Return seconds since the epoch as date and time in UTC; None if they are unknown or out of range."""
    try:
        return _UNSTATED + timedelta(seconds=value) if value is not None else None
    except (OverflowError, ValueError):
        return None


def duration(seconds: float) -> str:
    """Return seconds as `4.2 ms`, `0.21 s`, `51.9 s` or `3 h 26 min`."""
    if 0 < seconds < 0.1:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def size(count: int) -> str:
    """Return bytes as `512 B`, `14.6 kB` or `880 MB` (powers of 1000)."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.3g} {unit}"
    return f"{value / 1000:,.3g} TB"


def as_text(value: str | bool) -> str:
    """Return the text of a fact's value: a boolean becomes `yes` or `no`."""
    return value if isinstance(value, str) else "yes" if value else "no"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 step`, `4 steps`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def worker_key(worker: str) -> tuple[str, int]:
    """Return a sort key of a worker: `worker:2` comes before `worker:10`."""
    role, _, index = worker.partition(":")
    return (role, int(index)) if index.isascii() and index.isdigit() else (worker, 0)


def names(workers: Sequence[str]) -> str:
    """Return sorted worker names: `worker:0, worker:2`; three or more in a row become `worker:0–63`."""
    ordered = sorted(set(workers), key=worker_key)
    runs = [[w for _, w in run] for _, run in groupby(enumerate(ordered), _run_key)]
    parts = [[f"{run[0]}–{run[-1].partition(':')[2]}"] if len(run) > 2 else run for run in runs]
    return ", ".join(name for part in parts for name in part)


def _run_key(place: tuple[int, str]) -> tuple[str, int]:
    """Return a grouping key of (position, worker): equal for workers in a row with consecutive indexes."""
    role, index = worker_key(place[1])
    return role, index - place[0]


def number(value: float | str) -> str:
    """Return a curve's value with four significant digits; a string (`nan`, `inf`) is unchanged."""
    return value if isinstance(value, str) else f"{value:.4g}"


def listed(texts: Sequence[str]) -> str:
    """Join texts as in a sentence: `a, b and c`."""
    *most, last = texts or [""]
    return f"{', '.join(most)} and {last}" if most else last
