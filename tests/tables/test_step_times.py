"""What each step took, from the times at which steps were shown."""

from __future__ import annotations

import polars as pl

from analyzer.tables.builders import frame
from analyzer.tables.step_times import step_times

MOST = 2**63 - 1


def times(
    *shown: tuple[int, float], worker: str = "worker:0", source: str = "a.log", attempt: int = 1
) -> pl.DataFrame:
    """Rows of a worker that shows steps at times."""
    rows = ({"worker": worker, "source": source, "attempt": attempt, "step": s, "time": t} for s, t in shown)
    return frame("scalars", rows)


def took(*parts: pl.DataFrame) -> list[tuple[str, int, float, float]]:
    """Worker, step, seconds and time of each step."""
    return step_times(pl.concat(parts), ["attempt"]).rows()


def test_steps_that_are_not_shown_share_what_passed() -> None:
    """A step is dated by its first showing, in whatever order they come."""
    assert took(times((4, 109.0), (1, 100.0), (2, 103.0), (2, 105.0))) == [
        ("worker:0", 2, 3.0, 103.0),
        ("worker:0", 4, 3.0, 109.0),
    ]


def test_no_step_reaches_from_one_life_to_another() -> None:
    """Nor from one worker to another."""
    lives = times((1, 0.0), (2, 1.0)), times((3, 50.0), (4, 52.0), attempt=2)
    other = times((5, 60.0), (6, 63.0), worker="worker:1")
    assert took(*lives, other) == [
        ("worker:0", 2, 1.0, 1.0),
        ("worker:0", 4, 2.0, 52.0),
        ("worker:1", 6, 3.0, 63.0),
    ]


def test_the_source_that_dates_most_is_asked() -> None:
    """What another one of the worker shows does not count."""
    assert took(times((1, 0.0), (2, 1.0), (3, 2.0)), times((1, 7.0), (2, 9.0), source="b.log")) == [
        ("worker:0", 2, 1.0, 1.0),
        ("worker:0", 3, 1.0, 2.0),
    ]


def test_a_clock_that_goes_back_gives_no_time() -> None:
    """Nor does one that stands still."""
    assert took(times((1, 5.0), (2, 4.0), (3, 4.0), (4, 6.0))) == [("worker:0", 4, 2.0, 6.0)]


def test_any_number_may_be_a_step() -> None:
    """An event file may say so; no step takes less than nothing."""
    assert took(times((-MOST, 100.0), (MOST - 1, 110.0), (MOST, 111.0))) == [
        ("worker:0", MOST - 1, 10 / (2 * MOST - 1), 110.0),
        ("worker:0", MOST, 1.0, 111.0),
    ]


def test_nothing_shows_nothing() -> None:
    """An empty table has no step."""
    assert took(times()) == []
