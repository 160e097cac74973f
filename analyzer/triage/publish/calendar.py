"""Geometry of the calendar and of the trend bars."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analyzer.triage.night_summary import CALENDAR_DAYS, NightCounts

_PITCH, _CELL, _LEFT, _TOP = 19, 16, 34, 20
_LEVELS = (0.0, 0.1, 0.25, 0.5)


class Day(NamedTuple):
    """A square of the calendar; `level` is 0 if no run failed, 4 if most did, None if there was no run."""

    x: int
    y: int
    level: int | None
    says: str
    new: bool


class Calendar(NamedTuple):
    """The calendar: weeks as columns, Monday on top."""

    days: tuple[Day, ...]
    months: tuple[tuple[int, str], ...]
    width: int
    height: int = _TOP + 7 * _PITCH
    cell: int = _CELL
    top: int = _TOP
    pitch: int = _PITCH


def calendar(nights: Sequence[NightCounts], last: str) -> Calendar:
    """Return the calendar of half a year up to a date, or less if the history is shorter."""
    by_date = {night.date: night for night in nights}
    end = date.fromisoformat(last)
    begin = max(end - timedelta(days=CALENDAR_DAYS - 1), date.fromisoformat(min([*by_date, last])))
    monday = begin - timedelta(days=begin.weekday())
    days: list[Day] = []
    months: list[tuple[int, str]] = []
    shown = ""
    for number in range((end - monday).days + 1):
        day = monday + timedelta(days=number)
        x, y = _LEFT + number // 7 * _PITCH, _TOP + number % 7 * _PITCH
        if number % 7 == 0 and (month := f"{day:%b}") != shown:
            months = [
                each for each in months if x - each[0] > _PITCH
            ]  # no space for the name of a single week
            months.append((x, month))
            shown = month
        if day >= begin:
            days.append(_day(x, y, day.isoformat(), by_date.get(day.isoformat())))
    weeks = (end - monday).days // 7 + 1
    return Calendar(tuple(days), tuple(months), _LEFT + max(weeks, 8) * _PITCH)


def _day(x: int, y: int, day: str, night: NightCounts | None) -> Day:
    if night is None or not night.runs:
        return Day(x, y, None, f"{day}: no run", new=False)
    says = f"{day}: {night.bad} of {night.runs} failed or degraded"
    level = 0 if not night.bad else 1 + sum(night.bad / night.runs > each for each in _LEVELS[1:])
    return Day(x, y, level, says + (f", {night.new} new" if night.new else ""), new=night.new > 0)


class Spark(NamedTuple):
    """The bars of a trend."""

    bars: tuple[tuple[float, float, float], ...]
    """Left, top and height of each bar; nights without runs have none."""
    width: float
    height: float = 22.0


def spark(counts: Sequence[int]) -> Spark:
    """Return a bar for each night, scaled so that the highest fills the height."""
    most, height = max(counts, default=0) or 1, 22.0
    bars = (
        (2.5 * n, round(height - height * count / most, 1), round(height * count / most, 1))
        for n, count in enumerate(counts)
        if count
    )
    return Spark(tuple(bars), 2.5 * max(len(counts), 1))
