"""Scores are counted as one would by hand, and a matrix leaves out what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer import catalogue
from analyzer.trainer.matrix import cells, missing
from analyzer.trainer.scoreboard import Mark, judge, scoreboard

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario


@dataclass
class Version:
    """As much of an interpreter as a matrix looks at."""

    tensorflow: str


def find(name: str, guilty: int | None) -> Scenario:
    """Load a scenario of the checkout."""
    return catalogue.find_scenario(name, guilty=guilty)


@pytest.mark.parametrize(
    ("said", "culprits", "result"),
    [
        ("peer.killed", ["worker:2"], "right"),
        ("peer.vanished", ["worker:2"], "right"),
        ("peer.killed", ["worker:1"], "wrong"),
        ("peer.crashed", ["worker:2"], "wrong"),
        ("unknown", [], "abstained"),
    ],
)
def test_cause_and_culprit_count_together(said: str, culprits: list[str], result: str) -> None:
    """A cause that is as good is right too, with the right culprit; to say nothing is not wrong."""
    truth = {"cause": "peer.killed", "culprits": ["worker:2"], "accept": ["peer.vanished"]}
    assert judge(truth, {"cause": said, "culprits": culprits}) == result


def test_the_scoreboard_hides_none() -> None:
    """Every case that is not right has a line of its own."""
    marks = [
        Mark("one", "2.4", "peer.killed", "peer.killed", 0.9, "right"),
        Mark("two", "2.15", "peer.killed", "healthy", 0.5, "wrong"),
        Mark("three", "2.15", "healthy", "unknown", 0.1, "abstained"),
    ]
    told = scoreboard(marks).splitlines()
    assert "| peer.killed | 1 | 1 | 0 |" in told
    assert "| 2.15 | 0 | 1 | 1 |" in told
    assert "| together | 1 | 1 | 1 |" in told
    assert "| 0.00 to 0.60 | 1 | 0.50 | 0.00 |" in told
    assert "| two | peer.killed | healthy | 0.50 | wrong |" in told
    assert "| three | healthy | unknown | 0.10 | abstained |" in told


def test_a_matrix_resumes(tmp_path: Path) -> None:
    """Two versions and two guilty workers are four recordings, less the one that is there."""
    versions = [Version("2.4.4"), Version("2.15.1")]
    there = tmp_path / "worker-killed-tf24-0"
    there.mkdir()
    (there / "expected.json").touch()
    names = [
        cell.name
        for cell in missing(cells(["worker-killed", "healthy-fit"], versions, [0, 2, 9], find), tmp_path)  # type: ignore[arg-type]
    ]
    assert names == [
        "worker-killed-tf24-2",
        "worker-killed-tf215-0",
        "worker-killed-tf215-2",
        "healthy-fit-tf24",
        "healthy-fit-tf215",
    ]
