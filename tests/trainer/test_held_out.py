"""A third of the recordings is held out by name, and must not be told worse than the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from analyzer.trainer.scoring.held_out import Share, differ, is_held_out
from analyzer.trainer.scoring.scoreboard import CONFIDENT, Score, judge_cause, judge_culprit, shares
from tests.recordings import SAMPLE_RUNS, Recordings, expected


def test_about_a_third_of_all_names_is_held_out() -> None:
    """Whatever the names; the same ones each time."""
    drawn = [is_held_out(f"recording-{number}") for number in range(3000)]
    assert 900 < sum(drawn) < 1100
    assert (is_held_out("slow-worker"), is_held_out("worker-killed")) == (True, False)


def test_shares_differ_only_beyond_their_intervals() -> None:
    """Few recordings say little; a higher held-out share is no concern."""
    assert differ(Share(30, 60), Share(110, 120))
    assert not differ(Share(2, 3), Share(110, 120))
    assert not differ(Share(60, 60), Share(60, 120))
    assert not differ(Share(0, 0), Share(110, 120))


def test_shares_are_counted_as_one_would_by_hand() -> None:
    """Of each part, the held-out recordings first; an innocent who is blamed makes a confident answer wrong."""
    assert [is_held_out(name) for name in ("slow-worker", "worker-killed", "nan-loss")] == [
        True,
        False,
        False,
    ]
    scores = [
        Score("slow-worker", "2.4", "", "", 0.95, "right", "wrong"),
        Score("worker-killed", "2.4", "", "", 0.9, "right", "abstained"),
        Score("nan-loss", "2.4", "", "", 0.6, "wrong", "right"),
    ]
    assert shares(scores) == {
        "cause": (Share(1, 1), Share(1, 2)),
        "culprit": (Share(0, 1), Share(1, 2)),
        "confidence 0.9 or more": (Share(0, 1), Share(1, 1)),
    }


@pytest.fixture(scope="module")
def told(recordings: Recordings) -> dict[str, tuple[Share, Share]]:
    """The shares of all recordings."""
    return shares([score(home.name, expected(home), recordings.document(home)) for home in SAMPLE_RUNS])


def score(name: str, truth: Mapping[str, Any], said: Mapping[str, Any]) -> Score:
    """The answer on a recording, judged."""
    confidence = said["confidence"] or 0.0
    return Score(name, "", "", "", confidence, judge_cause(truth, said), judge_culprit(truth, said))


@pytest.mark.recordings
@pytest.mark.parametrize("part", ["cause", "culprit"])
def test_held_out_recordings_are_told_as_well_as_the_others(
    part: str, told: Mapping[str, tuple[Share, Share]]
) -> None:
    """Where this fails, rules fit the recordings that they were written on."""
    assert not differ(*told[part])


@pytest.mark.recordings
def test_what_is_said_with_confidence_is_right(told: Mapping[str, tuple[Share, Share]]) -> None:
    """Nine in ten held-out answers at 0.9 or more, of thirty at least."""
    held_out, _ = told[f"confidence {CONFIDENT} or more"]
    assert held_out.of >= 30
    assert held_out.right / held_out.of >= CONFIDENT
