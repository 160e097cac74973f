"""What becomes of the numbers of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from analyzer.derive.curves.curves import curves
from analyzer.derive.curves.series import series
from analyzer.tables.builders import frame

WORKERS = frame("workers", [{"worker": "worker:0", "trains": True}])


def curve(values: Sequence[float], first: int = 1, **more: object) -> pl.DataFrame:
    """One loss of each step."""
    place = {"worker": "worker:0", "attempt": 1, "tag": "loss", "scope": "unknown", "origin": "loop"}
    return frame(
        "scalars", [place | {"step": step, "value": value} | more for step, value in enumerate(values, first)]
    )


def found(*parts: pl.DataFrame) -> dict[str, Any]:
    """The one curve of these scalars."""
    (row,) = summed(*parts)
    return row


def summed(*parts: pl.DataFrame) -> list[dict[str, Any]]:
    """All curves of these scalars."""
    scalars = pl.concat(parts)
    return curves(scalars, WORKERS, series(scalars)).to_dicts()


NOISE = [2.0 + 0.1 * math.sin(step * 2.4) for step in range(60)]
LEARNS = [2.0 / (1 + step) + 0.01 * math.sin(step * 2.4) for step in range(60)]


@pytest.mark.parametrize(
    ("tag", "quantity"),
    [
        ("loss", "training_loss"),
        ("Loss_G", "loss"),
        ("loss_disc", "loss"),
        ("policy_loss", "loss"),
        ("loss_scale", None),
        ("loss_weight", None),
    ],
)
def test_one_of_several_losses_is_a_loss(tag: str, quantity: str | None) -> None:
    """GANs and detectors name theirs by a word behind `loss`, as settings of it are named."""
    assert found(curve(LEARNS).with_columns(tag=pl.lit(tag)))["quantity"] == quantity


def test_a_loss_that_stands_still_does_not_fall() -> None:
    """Noise about one value does not; what is learnt within the first steps does."""
    assert abs(found(curve(NOISE))["fall"]) < 2
    assert found(curve(LEARNS))["fall"] > 20
    assert found(curve(LEARNS[:19]))["fall"] is None
    assert found(curve([2.5] * 30))["fall"] == 0
    assert found(curve([3.0] * 3 + [2.0] * 30))["fall"] == math.inf


def test_values_that_come_back_to_the_last_digit() -> None:
    """Of batches that met the weights with which training began."""
    assert found(curve([1.38741, 1.40152, 1.36618, 1.40152, 1.36618, 0.5]))["recurring"] == 2 / 3
    assert found(curve(LEARNS))["recurring"] == 0
    assert found(curve([2.5, 2.4, 2.3]))["recurring"] is None


@pytest.mark.parametrize(
    ("tag", "values", "improved"),
    [
        ("loss", LEARNS, True),
        ("loss", NOISE, False),
        ("loss", [0.9, 0.8], True),
        ("loss", [0.9], False),
        ("loss", [0.9, 0.8, math.nan], False),
        ("critic_loss", [-1.0, -2.0], True),
        ("eval/rmse", [2.0, 1.0], True),
        ("accuracy", [0.4, 0.6], True),
        ("accuracy", [0.6, 0.4], False),
        ("mean_reward", [-20.0, -5.0], True),
        ("lr", [0.1, 0.01], False),
        ("step_seconds", [2.0, 0.1], False),
    ],
)
def test_what_shows_that_a_model_learned(tag: str, values: list[float], improved: bool) -> None:
    """Losses and errors that fall, scores that rise; neither settings nor times."""
    assert found(curve(values).with_columns(tag=pl.lit(tag)))["improved"] == improved


def test_a_rise_that_lasts_and_one_that_goes_on() -> None:
    """Times of steps that take longer and longer, or from some step on; the first one holds what is compiled."""
    grows = found(curve([9.0] + [1.0] * 7 + [float(n) for n in range(2, 10)]))
    assert (grows["lasting_rise"], grows["rises_on"]) == (5.0, True)
    phase = found(curve([9.0] + [1.0] * 7 + [4.0] * 8))
    assert (phase["lasting_rise"], phase["rises_on"]) == (4.0, False)
    assert found(curve([1.0] * 14))["lasting_rise"] is None


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


def test_a_curve_that_stays_without_finite_values_is_lost() -> None:
    """From the first value or after finite ones, to its end, and three times at least."""
    for values in ([2.0, 1.5, math.nan, math.inf, math.nan], [math.nan] * 5):
        assert found(curve(values))["lost"]
    for values in ([2.0, math.nan, math.nan], [2.0, *[math.nan] * 3, 1.5], LEARNS):
        assert not found(curve(values))["lost"]


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
    assert not anew["outdone"]
    assert found(before, curve([4.0] * 90, attempt=2))["outdone"]
    assert found(before)["resumed_growth"] is None


@pytest.mark.parametrize(("printed", "logged"), [(1.4142, True), (1.6, False)])
def test_a_curve_of_log_and_event_file_is_one(printed: float, logged: bool) -> None:
    """As far as the digits of the log go."""
    log, written = curve([printed, 0.5]), curve([2**0.5, 0.5], origin="event_file")
    rows = {row["origin"]: row["logged"] for row in summed(log, written)}
    assert rows == {"loop": None, "event_file": logged}


def test_log_and_event_file_disagree_from_a_step_on() -> None:
    """Say, for the event file is of another job: both rows say at which step, and what each tells."""
    log, written = curve([1.0, 0.9, 0.8, 0.7]), curve([1.0, 0.9, 0.5, 0.4], origin="event_file")
    for row in summed(log, written):
        assert (row["both"], row["apart"], row["apart_share"]) == (4, 2, 0.5)
        assert (row["apart_step"], row["apart_value"], row["apart_printed"]) == (3, 0.5, 0.8)
    (alone,) = summed(log)
    assert (alone["both"], alone["apart"], alone["apart_share"]) == (0, 0, None)


def test_the_largest_jump_of_a_learning_rate() -> None:
    """The step at which it is, and both values; a rate of zero has none."""
    row = found(curve([0.01, 0.02, 0.02, 4.0, 4.0]))
    assert (row["jump_step"], row["jump_from"], row["jump_to"], row["jump"]) == (4, 0.02, 4.0, 200.0)
    assert found(curve([0.0, 0.0]))["jump"] is None


def test_weights_that_were_not_restored() -> None:
    """Of what was learnt all is lost, or nothing; a noisy first value alone is no loss."""
    before = curve(LEARNS[:30])
    fresh = found(before, curve(LEARNS[:20], first=31, attempt=2))
    assert fresh["resumed_lost"] == pytest.approx(1.5, abs=0.6)
    assert fresh["resumed_rise"] > 10
    went_on = found(before, curve(LEARNS[30:], first=31, attempt=2))
    assert abs(went_on["resumed_lost"]) < 0.1
    assert went_on["resumed_rise"] < 0
    spike = found(before, curve([2.0, *LEARNS[31:]], first=31, attempt=2))
    assert spike["resumed_rise"] < 0
    again = found(before, curve(LEARNS[10:], first=11, attempt=2))
    assert abs(again["resumed_lost"]) < 0.1
    assert found(before, curve([2.0], first=31, attempt=2))["resumed_lost"] is None


def test_attempts_follow_each_other_whatever_their_files_are_called() -> None:
    """`worker-0.2/stdout.log` sorts before `worker-0/stdout.log`."""
    before, after = curve(LEARNS[:30]), curve(LEARNS[:20], first=31, attempt=2)
    assert found(after, before) == found(before, after)
    others = [each.with_columns(worker=pl.lit("worker:1")) for each in (before, after)]
    in_order, mixed = summed(before, after, *others), summed(before, *others, after)
    assert sorted(map(str, in_order)) == sorted(map(str, mixed))
    assert sorted(map(str, in_order)) == sorted(map(str, summed(after, before, *reversed(others))))


def test_of_several_restarts_the_worst_is_told() -> None:
    """The second life lost all; the third goes on."""
    first, second, third = (
        curve(LEARNS[:30]),
        curve(LEARNS[:20], first=31, attempt=2),
        curve([0.1] * 5, first=51, attempt=3),
    )
    assert found(first, second, third)["resumed_step"] == 31


def test_an_exploded_loss_is_cited_where_it_first_left_its_range() -> None:
    """A spike that comes back, and growth near zero, are no explosion; without one, the last value is cited."""
    lines = [{"line": 10 * n, "source": "worker-0.log"} for n in range(1, 5)]

    def logged(*values: float) -> dict[str, Any]:
        return found(*(curve([value], first=n, **lines[n - 1]) for n, value in enumerate(values, 1)))

    keys = ("exploded", "exploded_step", "line")
    assert [logged(2.3, 31.0, 9200.5, 310000.0)[key] for key in keys] == [True, 3, 30]
    assert [logged(1.4e20, 4.8e5)[key] for key in keys] == [True, 1, 10]
    assert [logged(2.3, 9200.5, 2.2, 2.1)[key] for key in keys] == [False, None, 40]
    assert [logged(1e-6, 1e-3, 2e-3, 1e-2)[key] for key in keys] == [False, None, 40]
    assert logged(2.3, 9200.5, 310000.0, math.nan)["line"] == 40


@pytest.mark.parametrize(
    ("values", "recovered", "again"),
    [
        ([0.5, math.inf, 0.4], True, 3),
        ([0.5, math.nan, 0.4, math.nan], False, None),
        ([0.5, math.nan], False, None),
        ([0.5, 0.4], False, None),
    ],
)
def test_a_loss_that_is_finite_again(values: Sequence[float], recovered: bool, again: int | None) -> None:
    """It is so after the last value that is not."""
    row = found(curve(values))
    assert (row["recovered"], row["again_step"]) == (recovered, again)


@pytest.mark.parametrize(
    ("below", "recovered"), [([3.9, 3.7], False), ([3.0, 2.9], True), ([4.2, 4.1], False), ([4.6, 4.5], True)]
)
def test_the_next_run_in_a_log_makes_no_loss_finite_again(below: Sequence[float], recovered: bool) -> None:
    """It begins at the first step, with the loss of untrained weights; steps may count anew in each epoch."""
    row = found(curve([4.0, 3.5, math.nan]), curve(below))
    assert row["recovered"] == recovered


def test_a_restart_makes_no_loss_finite_again() -> None:
    """It begins from an earlier checkpoint."""
    row = found(curve([0.5, math.nan]), curve([0.4, 0.3], attempt=2))
    assert not row["recovered"]


@pytest.mark.parametrize(("bad", "beside"), [(3, True), (9, False)])
def test_an_evaluation_that_is_not_finite_beside_a_training_that_is(bad: int, beside: bool) -> None:
    """The training loss has to go on below it."""
    parts = [curve([0.5 - 0.01 * n], n, source="worker-0.log", line=n) for n in range(1, 9)]
    evaluated = curve([math.nan], bad, tag="val_loss", source="worker-0.log", line=bad)
    rows = {row["tag"]: row for row in summed(*parts, evaluated)}
    assert rows["val_loss"]["beside_training"] is beside
    assert not rows["loss"]["beside_training"]
