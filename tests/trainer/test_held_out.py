"""A third of the recordings is held out by name, and must not be told worse than the others."""

from __future__ import annotations

import json
from pathlib import Path

from analyzer.trainer.scoring.held_out import Share, differ, is_held_out
from analyzer.trainer.scoring.scoreboard import judge_cause, judge_culprit
from tests.recordings import SAMPLE_RUNS, Recordings


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


def test_held_out_recordings_are_told_as_well_as_the_others(recordings: Recordings) -> None:
    """Of cause and culprit; where this fails, rules fit the recordings that they were written on."""
    right: dict[tuple[str, bool], list[bool]] = {}
    for home in SAMPLE_RUNS:
        truth, said = json.loads((home / "expected.json").read_text()), said_of(home, recordings)
        held = is_held_out(home.name)
        right.setdefault(("cause", held), []).append(judge_cause(truth, said) == "right")
        right.setdefault(("culprit", held), []).append(judge_culprit(truth, said) == "right")
    for part in ("cause", "culprit"):
        held_out, others = ([*right[part, held]] for held in (True, False))
        assert not differ(Share(sum(held_out), len(held_out)), Share(sum(others), len(others))), part


def said_of(home: Path, recordings: Recordings) -> dict[str, object]:
    """The diagnosis of a recording."""
    return dict(recordings.document(home))
