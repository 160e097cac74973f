"""What becomes of the numbers of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from analyzer.derive.curves import curves
from analyzer.schema import frame

WORKERS = frame("workers", [{"worker": "worker:0", "trains": True}])


def curve(values: Sequence[float], first: int = 1, **more: object) -> pl.DataFrame:
    """One loss of each step."""
    place = {"worker": "worker:0", "attempt": 1, "tag": "loss", "scope": "unknown", "origin": "loop"}
    return frame(
        "scalars", [place | {"step": step, "value": value} | more for step, value in enumerate(values, first)]
    )


def found(*parts: pl.DataFrame) -> dict[str, Any]:
    """The one curve of these scalars."""
    (row,) = curves(pl.concat(parts), WORKERS).to_dicts()
    return row


NOISE = [2.0 + 0.1 * math.sin(step * 2.4) for step in range(60)]
LEARNS = [2.0 / (1 + step) + 0.01 * math.sin(step * 2.4) for step in range(60)]


def test_a_loss_that_stands_still_does_not_fall() -> None:
    """Noise about one value does not; what is learnt within the first steps does."""
    assert abs(found(curve(NOISE))["fall"]) < 2
    assert found(curve(LEARNS))["fall"] > 20
    assert found(curve(LEARNS[:19]))["fall"] is None
    assert found(curve([2.5] * 30))["fall"] == 0
    assert found(curve([3.0] * 3 + [2.0] * 30))["fall"] == math.inf


def test_a_curve_from_the_start() -> None:
    """Neither one that goes on nor one of a restarted worker."""
    assert found(curve(LEARNS))["from_start"]
    assert found(curve(LEARNS, epoch=1))["from_start"]
    assert not found(curve(LEARNS, first=100))["from_start"]
    assert not found(curve(LEARNS, epoch=4))["from_start"]
    assert not found(curve(LEARNS, attempt=2))["from_start"]


def test_the_last_finite_value_before_the_first_that_is_none() -> None:
    """Where there is one; and a later finite value is not it."""
    row = found(curve([2.0, 1.5, math.nan, 1.2, math.inf]))
    assert (row["nonfinite_step"], row["finite_step"], row["finite_value"]) == (3, 2, 1.5)
    assert found(curve([math.nan, 1.0]))["finite_step"] is None


def test_a_restart_is_held_against_what_it_left() -> None:
    """Against the same step, where that had been reached; else against the last one."""
    before = curve([4.0, 2.0, 1.0, 0.5])
    ahead = found(before, curve([2.0, 1.5], first=5, attempt=2))
    assert (ahead["left_step"], ahead["resumed_step"], ahead["resumed_growth"], ahead["anew"]) == (
        4,
        5,
        4.0,
        False,
    )
    again = found(before, curve([1.0, 0.6], first=3, attempt=2))
    assert (again["resumed_growth"], again["anew"]) == (1.0, False)
    anew = found(before, curve([4.0, 2.0], attempt=2))
    assert (anew["resumed_growth"], anew["anew"]) == (1.0, True)
    assert found(before)["resumed_growth"] is None


@pytest.mark.parametrize(("printed", "logged"), [(1.4142, True), (1.6, False)])
def test_a_curve_of_log_and_event_file_is_one(printed: float, logged: bool) -> None:
    """As far as the digits of the log go."""
    log, written = curve([printed, 0.5]), curve([2**0.5, 0.5], origin="event_file")
    rows = {row["origin"]: row["logged"] for row in curves(pl.concat([log, written]), WORKERS).to_dicts()}
    assert rows == {"loop": None, "event_file": logged}
