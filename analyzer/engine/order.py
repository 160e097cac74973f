"""Orders rows by step if both have one, by line within a source, else by time.

If these do not determine the order, neither row precedes the other and their distance is unknown.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import polars as pl

from analyzer.engine.rule_types import Signal, Within
from analyzer.engine.select import Row
from analyzer.model.run import Tables
from analyzer.tables.clock_alignment import CommonClock


class _Distance(NamedTuple):
    """Distance from one row to another; unknown parts are None."""

    sign: int
    """1 for after, -1 for before, 0 for the same position."""
    steps: int | None = None
    seconds: float | None = None


class Order:
    """Compares the positions of rows."""

    def __init__(self, tables: Tables) -> None:
        self._clocks, self._sources = tables["clocks"], tables["sources"]

    @cached_property
    def _clock(self) -> CommonClock:
        return CommonClock(self._clocks, self._sources)

    @cached_property
    def _residuals(self) -> dict[str, float]:
        """Return worker → uncertainty of its clock offset in seconds."""
        known = self._clocks.filter(pl.col("residual").is_not_null())
        return dict(known.select("worker", "residual").iter_rows())

    def kept(self, signal: Signal, rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
        """Return the rows that come after (or before) one of the others, within the signal's distance."""
        side = 1 if signal.after else -1
        return [
            row for row in rows if any(self._is_within(row, other, side, signal.within) for other in others)
        ]

    def _is_within(self, row: Row, other: Row, side: int, near: Within) -> bool:
        distance = self._distance(row, other)
        if distance is None or distance.sign != side:
            return False
        if near.steps is not None and (distance.steps is None or abs(distance.steps) > near.steps):
            return False
        if near.seconds is None:
            return True
        return distance.seconds is not None and abs(distance.seconds) <= near.seconds

    def _distance(self, row: Row, other: Row) -> _Distance | None:
        seconds = self._seconds(row, other)
        order, steps = _step_distance(row, other) or (0, None)
        by = order or (row["line"] - other["line"] if _same_source(row, other) else seconds)
        return None if by is None else _Distance((by > 0) - (by < 0), steps, seconds)

    def _seconds(self, row: Row, other: Row) -> float | None:
        """Return the seconds between two rows; None if unknown or within the error of their clocks."""
        times = [self._clock.time(r.get("worker"), r.get("source"), r.get("time")) for r in (row, other)]
        mine, theirs = row.get("worker") or "", other.get("worker") or ""
        if times[0] is None or times[1] is None:
            return None
        between = times[0] - times[1]
        if mine == theirs:
            return between
        if mine not in self._residuals or theirs not in self._residuals:
            return None
        return between if abs(between) > self._residuals[mine] + self._residuals[theirs] else None


def _step_distance(row: Row, other: Row) -> tuple[int, int | None] | None:
    """Return (number whose sign is the order, steps between or None across epochs); None if unknown."""
    mine, theirs = _position(row), _position(other)
    if mine is None or theirs is None:
        return None
    between = mine[1] - theirs[1]
    return (between, between) if mine[0] == theirs[0] else (mine[0] - theirs[0], None)


def _position(row: Row) -> tuple[int, int] | None:
    """Return (epoch, step) of a row, or of a curve's first non-finite value; None if it has no step."""
    for prefix in ("", "nonfinite_"):
        if row.get(f"{prefix}step") is not None:
            return int(row.get(f"{prefix}epoch") or 0), int(row[f"{prefix}step"])
    return None


def _same_source(row: Row, other: Row) -> bool:
    numbered = row.get("line") is not None and other.get("line") is not None
    return numbered and row.get("source") is not None and row["source"] == other.get("source")
