"""How fast workers went, and when that changed."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Any

import polars as pl
import pytest

from analyzer.derive.training.step_rate import Timed, changes, paces
from analyzer.tables.builders import frame


def steps(seconds: list[float]) -> list[Timed]:
    """One step after another."""
    return [Timed(step, one) for step, one in enumerate(seconds, 1)]


def jitter(seed: int, count: int, seconds: float) -> list[float]:
    """What a loaded machine makes of equal steps: a tail of slow ones."""
    chance = random.Random(seed)
    return [seconds * chance.lognormvariate(0, 0.4) for _ in range(count)]


def test_a_lasting_change_is_found_where_it_is() -> None:
    """And told with what a step took before and after."""
    (change,) = changes(steps(jitter(1, 100, 0.1) + jitter(2, 60, 0.4)))
    assert abs(change.step - 101) <= 3
    assert change.after / change.before == pytest.approx(4, rel=0.3)


def test_several_changes() -> None:
    """Slow at first, then fast, then slow again."""
    found = changes(steps(jitter(3, 50, 0.5) + jitter(4, 80, 0.1) + jitter(5, 50, 0.3)))
    assert [one.after < one.before for one in found] == [True, False]


def test_jitter_and_pauses_are_no_change() -> None:
    """Neither the tail of a loaded machine nor a checkpoint every now and then."""
    for seed in range(40):
        pauses = [
            3.0 if step % 25 == 0 else 0.1 * random.Random(seed + step).uniform(0.8, 1.3)
            for step in range(150)
        ]
        assert changes(steps(jitter(seed, 200, 0.1))) == []
        assert changes(steps(pauses)) == []


def scalars(*rows: dict[str, Any]) -> pl.DataFrame:
    """Dated values of an event file."""
    place = {
        "worker": "worker:0",
        "attempt": 1,
        "source": "e",
        "tag": "loss",
        "origin": "event_file",
        "value": 1.0,
    }
    return frame("scalars", [place | row for row in rows])


def test_the_last_event_beside_the_last_line() -> None:
    """A log that goes on for long behind the last event."""
    sources = frame("sources", [{"worker": "worker:0", "kind": "log", "last_time": 190.0}])
    (row,) = paces(scalars(*({"step": step, "time": 100.0 + step} for step in range(10))), sources).to_dicts()
    assert (row["steps"], row["step_time"], row["last_event"], row["event_behind"]) == (9, 1.0, 109.0, 81.0)


def test_gaps_between_evaluations() -> None:
    """By the tag written most often, and neither steps nor epochs of training."""
    times = accumulate([100.0, 10.0, 10.0, 40.0])
    tried = [
        {"tag": f"validation/{tag}", "step": 1, "time": t} for t in times for tag in ("epoch_loss", "mae")
    ]
    (row,) = paces(scalars(*tried, {"step": 9, "time": 175.0}), frame("sources", [])).to_dicts()
    assert (row["evaluations"], row["evaluation_gap"], row["longest_gap"]) == (4, 10.0, 40.0)
    assert row["since_evaluation"] == 15.0


def test_many_steps_are_few_to_look_at() -> None:
    """A long run's change is found as well."""
    (change,) = [one for one in paces_of(jitter(7, 30_000, 0.1) + jitter(8, 30_000, 0.25)) if one is not None]
    assert abs(change - 30_000) < 500


def paces_of(seconds: list[float]) -> list[int | None]:
    """The step of the change, by way of the table."""
    rows = ({"step": step, "time": time} for step, time in enumerate(accumulate(seconds)))
    return paces(scalars(*rows), frame("sources", []))["changed_step"].to_list()
