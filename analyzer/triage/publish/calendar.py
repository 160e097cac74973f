"""Computes the geometry of the calendar and of the trend bars."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from analyzer.triage.night_summary import CALENDAR_DAYS, NightCounts

_PITCH, _CELL, _LEFT, _TOP = 19, 16, 34, 20
_LEVELS = (0.0, 0.1, 0.25, 0.5)


def calendar(nights: Sequence[NightCounts], last: str) -> dict[str, Any]:
    """Return the calendar for the template: half a year up to a date, or less if the history is shorter.

    Weeks are columns, Monday is on top. The `level` of a day is 0 if no run failed, 4 if more than half of
    the runs did, and None without runs.
    """
    by_date = {night.date: night for night in nights}
    end = date.fromisoformat(last)
    begin = max(end - timedelta(days=CALENDAR_DAYS - 1), date.fromisoformat(min([*by_date, last])))
    monday = begin - timedelta(days=begin.weekday())
    days: list[dict[str, Any]] = []
    months: list[tuple[int, str]] = []
    shown = ""
    for number in range((end - monday).days + 1):
        day = monday + timedelta(days=number)
        x, y = _LEFT + number // 7 * _PITCH, _TOP + number % 7 * _PITCH
        if number % 7 == 0 and (month := f"{day:%b}") != shown:
            months = [
                each for each in months if x - each[0] > _PITCH
            ]  # a single week has no space for a name
            months.append((x, month))
            shown = month
        if day >= begin:
            days.append(_day(x, y, day.isoformat(), by_date.get(day.isoformat())))
    width = _LEFT + max((end - monday).days // 7 + 1, 8) * _PITCH
    size = {"width": width, "height": _TOP + 7 * _PITCH, "cell": _CELL, "top": _TOP, "pitch": _PITCH}
    return {"days": days, "months": months, **size}


def _day(x: int, y: int, day: str, night: NightCounts | None) -> dict[str, Any]:
    if night is None or not night.runs:
        return {"x": x, "y": y, "level": None, "says": f"{day}: no run", "new": False, "date": day}
    says = f"{day}: {night.bad} of {night.runs} failed or degraded"
    level = 0 if not night.bad else 1 + sum(night.bad / night.runs > each for each in _LEVELS[1:])
    says += f", {night.new} new" if night.new else ""
    return {"x": x, "y": y, "level": level, "says": says, "new": night.new > 0, "date": day}


class Week(NamedTuple):
    """Seven days from a Monday: numbers of runs, failed or degraded runs and new groups, and its nights."""

    monday: str
    runs: int
    bad: int
    new: int
    nights: tuple[NightCounts, ...]


def weeks(nights: Sequence[NightCounts]) -> list[Week]:
    """Return the weeks with a run, the latest first; their nights are in order."""
    by_monday: dict[str, list[NightCounts]] = defaultdict(list)
    for night in nights:
        day = date.fromisoformat(night.date)
        by_monday[(day - timedelta(days=day.weekday())).isoformat()].append(night)
    made = []
    for monday, same in sorted(by_monday.items(), reverse=True):
        runs, bad, new = (sum(getattr(night, name) for night in same) for name in ("runs", "bad", "new"))
        made.append(Week(monday, runs, bad, new, tuple(same)))
    return made


def spark(counts: Sequence[int]) -> dict[str, Any]:
    """Return the chart's size and (left, top, height) of each bar; the highest bar fills the height."""
    most, height = max(counts, default=0) or 1, 22.0
    bars = [
        (2.5 * n, round(height - height * count / most, 1), round(height * count / most, 1))
        for n, count in enumerate(counts)
        if count
    ]
    return {"bars": bars, "width": 2.5 * max(len(counts), 1), "height": height}
