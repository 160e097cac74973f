"""Scores are counted as one would by hand, and a matrix leaves out what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer.matrix import cells, missing
from analyzer.trainer.scoreboard import Mark, judge_cause, judge_culprit, scoreboard

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Version:
    """As much of an interpreter as a matrix looks at."""

    tensorflow: str


@pytest.mark.parametrize(
    ("said", "culprits", "cause", "culprit"),
    [
        ("peer.killed", ["worker:2"], "right", "right"),
        ("peer.vanished", ["worker:2"], "right", "right"),
        ("peer.killed", ["worker:1"], "right", "wrong"),
        ("peer.killed", ["worker:1", "worker:2"], "right", "wrong"),
        ("peer.crashed", ["worker:2"], "wrong", "right"),
        ("peer.killed", [], "right", "abstained"),
        ("unknown", [], "abstained", "abstained"),
        (None, [], "abstained", "abstained"),
    ],
)
def test_cause_and_culprit_are_judged_apart(
    said: str | None, culprits: list[str], cause: str, culprit: str
) -> None:
    """A cause that is as good is right, to say nothing is not wrong, and to blame an innocent always is."""
    truth = {"cause": "peer.killed", "culprits": ["worker:2"], "accept": ["peer.vanished"]}
    told = {"cause": said, "culprits": culprits}
    assert (judge_cause(truth, told), judge_culprit(truth, told)) == (cause, culprit)


def test_the_scoreboard_hides_none() -> None:
    """Every case that is not right has a line of its own, with the reason where one is known."""
    marks = [
        Mark("one", "2.4", "peer.killed worker:1", "peer.killed worker:1", 0.9, "right", "right"),
        Mark("two", "2.15", "peer.killed worker:1", "healthy", 0.5, "wrong", "abstained"),
        Mark("three", "2.15", "healthy", "unknown", 0.1, "abstained", "right"),
    ]
    told = scoreboard(marks, {"two": "the log ends too early"}).splitlines()
    assert "| peer.killed | 1 | 1 |  | 1 |  | 1 |" in told
    assert told.index("| 2.4 | 1 |  |  | 1 |  |  |") < told.index("| 2.15 |  | 1 | 1 | 1 |  | 1 |")
    assert "| together | 1 | 1 | 1 | 2 |  | 1 |" in told
    assert "| 0.00 to 0.60 | 1 | 0.50 | 0.00 |" in told
    assert (
        "| two | peer.killed worker:1 | healthy (0.50) | wrong | abstained | the log ends too early |" in told
    )
    assert "| three | healthy | unknown (0.10) | abstained | right | not explained yet |" in told


def test_a_matrix_resumes(tmp_path: Path) -> None:
    """Two versions and two guilty workers are four recordings, less the one that is there."""
    versions = [Version("2.4.4"), Version("2.15.1")]
    there = tmp_path / "worker-killed-tf24-0"
    there.mkdir()
    (there / "expected.json").touch()
    names = [
        cell.name
        for cell in missing(cells(["worker-killed", "healthy-fit"], versions, [0, 2, 9], []), tmp_path)  # type: ignore[arg-type]
    ]
    assert names == [
        "worker-killed-tf24-2",
        "worker-killed-tf215-0",
        "worker-killed-tf215-2",
        "healthy-fit-tf24",
        "healthy-fit-tf215",
    ]


def test_a_matrix_crosses_the_numbers_of_workers(tmp_path: Path) -> None:
    """A guilty worker who is not there in a smaller job is left out."""
    crossed = cells(["worker-killed"], [Version("2.15.1")], [0, 3], [2, 4])  # type: ignore[list-item]
    made = missing(crossed, tmp_path)
    assert [cell.name for cell in made] == [
        "worker-killed-tf215-2w-0", "worker-killed-tf215-4w-0", "worker-killed-tf215-4w-3",
    ]  # fmt: skip
    assert [cell.scenario.workers for cell in made] == [2, 4, 4]
