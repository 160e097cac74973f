"""Scores are counted as one would by hand, and a matrix leaves out what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from analyzer.cli.terminal.live_table import SilentObserver
from analyzer.trainer.catalogue import all_scenarios
from analyzer.trainer.gpus.shares import MachineError
from analyzer.trainer.matrix import cells, missing
from analyzer.trainer.record import Recorder
from analyzer.trainer.scoring import matrix_results
from analyzer.trainer.scoring.baselines import answers
from analyzer.trainer.scoring.holdout_results import NAME, keep, load
from analyzer.trainer.scoring.intervals import wilson
from analyzer.trainer.scoring.matrix_results import MatrixResult, matrix_table
from analyzer.trainer.scoring.scoreboard import (
    Score,
    first_scoreboard,
    judge_cause,
    judge_culprit,
    scoreboard,
)
from tests.recordings import Recordings, sample_run_named

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.jobs.interpreter import Interpreter


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
    scores = [
        Score("one", "2.4", "peer.killed worker:1", "peer.killed worker:1", 0.9, "right", "right"),
        Score("two", "2.15", "peer.killed worker:1", "healthy", 0.5, "wrong", "abstained"),
        Score("three", "2.15", "healthy", "unknown", 0.1, "abstained", "right"),
    ]
    told = scoreboard(scores, {"two": "the log ends too early"}).splitlines()
    assert "| peer.killed | 1 | 1 |  | 1 |  | 1 |" in told
    assert told.index("| 2.4 | 1 |  |  | 1 |  |  |") < told.index("| 2.15 |  | 1 | 1 | 1 |  | 1 |")
    assert "| together | 1 | 1 | 1 | 2 |  | 1 |" in told
    assert "| 0.00 to 0.60 | 1 | 0.50 | 0.00 | 0.00 to 0.79 | 1.00 | 0.21 to 1.00 |" in told
    assert (
        "| two | peer.killed worker:1 | healthy (0.50) | wrong | abstained | the log ends too early |" in told
    )
    assert "| three | healthy | unknown (0.10) | abstained | right | not explained yet |" in told


def test_a_first_try_stays_what_it_was(tmp_path: Path) -> None:
    """Rules that know better today do not change what was said then; the reason is added by hand."""
    file = tmp_path / NAME
    before = Score("one", "2.17", "peer.killed worker:1", "unknown", 0.0, "abstained", "abstained")
    after = Score("one", "2.17", "peer.killed worker:1", "peer.killed worker:1", 0.9, "right", "right")
    other = Score("two, of three", "2.4", "healthy", "healthy", 0.95, "right", "right")
    assert [one.recording for one in keep(file, [before], "1a")] == ["one"]
    assert [one.recording for one in keep(file, [after, other], "2b")] == ["two, of three"]
    first, second = load(file)
    assert (first.score, first.rules) == (before, "1a")
    assert (second.score, second.rules) == (other, "2b")
    told = first_scoreboard([first.score, second.score], {"one": "its log was cut"}).splitlines()
    assert "| together | 1 |  | 1 | 1 |  | 1 |" in told
    assert "| one | peer.killed worker:1 | unknown (0.00) | abstained | abstained | its log was cut |" in told


def test_simpler_ways_are_measured_beside_it() -> None:
    """On the same runs; to blame somebody where nobody is guilty is counted apart."""
    truth = [("worker:1",), ("worker:1",), ("worker:2",), ()]
    blamed = ["worker:1", None, "worker:0", "worker:0"]
    scores = [
        Score(str(n), "2.4", "x", "x", 0.9, "right", "right", culprits, {"first error": worker})
        for n, (culprits, worker) in enumerate(zip(truth, blamed, strict=True))
    ]
    told = scoreboard(scores, {}).splitlines()
    assert "| mwms-analyze | 3 | 0 | 0 | 1 | 0 |" in told
    assert "| always the same worker | 2 | 1 | 0 | 0 | 1 |" in told
    assert "| first error | 1 | 1 | 1 | 0 | 1 |" in told
    assert "| accused most | 0 | 0 | 3 | 1 | 0 |" in told


def test_an_interval_is_wide_where_little_was_seen() -> None:
    """Values from Wilson's formula, as others compute them."""
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(95, 100) == pytest.approx((0.8882, 0.9785), abs=1e-4)


def test_baselines_answer_from_the_tables(recordings: Recordings) -> None:
    """The exception of its own; who fell silent first; whom the others name."""
    told = {
        name: answers(recordings.tables(sample_run_named(name)))
        for name in ("worker-exception", "worker-killed", "healthy-fit", "worker-never-joined")
    }
    last = "own exception, else missing log, else accused most"
    assert told["worker-exception"][last] == "worker:3"
    assert told["worker-killed"]["accused most"] is not None
    assert set(told["healthy-fit"].values()) == {None}
    assert told["worker-never-joined"][last] == "worker:2"


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


def test_a_matrix_keeps_what_became_of_each_recording(tmp_path: Path) -> None:
    """A refused run is tried again unless only missing ones are wanted; the last of its results counts."""
    file = tmp_path / "state" / "matrix.csv"
    assert matrix_results.load(file) == {}
    refused = MatrixResult(
        "frozen-tf215-1", "frozen", "2.15.1", "2026-11-22", "", "a worker never came to step 30"
    )
    healthy = MatrixResult(
        "healthy-fit-tf24", "healthy-fit", "2.4.4", "2026-11-22", "no fault", "", "healthy"
    )
    held = refused._replace(date="2026-11-23", witness="state T in /proc", refused="", cause="right")
    for result in (refused, healthy, held):
        matrix_results.append(file, result)
    results = matrix_results.load(file)
    assert list(results.values()) == [held, healthy]
    versions = [Version("2.4.4"), Version("2.15.1")]
    wanted = list(cells(["frozen", "healthy-fit"], versions, [1], []))  # type: ignore[arg-type]
    left = missing(iter(wanted), tmp_path, results)
    assert [cell.name for cell in left] == ["frozen-tf24-1", "healthy-fit-tf215"]
    assert len(missing(iter(wanted), tmp_path)) == 4


def test_the_table_of_a_matrix_names_what_has_not_run() -> None:
    """Refused runs show their reason, and scenarios without a result are named, those for GPUs apart."""
    told = matrix_table(
        [
            MatrixResult("a", "frozen", "2.15.1", "2026-11-22", "", "a worker never came to step 30"),
            MatrixResult(
                "b",
                "healthy-fit",
                "2.4.4",
                "2026-11-22",
                "no fault",
                "",
                "healthy",
                "unknown",
                "0.1",
                "abstained",
                "right",
            ),
        ]
    )
    assert "| frozen | 2.15.1 | 2026-11-22 | refused: a worker never came to step 30 |  |  |" in told
    assert (
        "| healthy-fit | 2.4.4 | 2026-11-22 | no fault | healthy | unknown: cause abstained, culprit right |"
        in told
    )
    count = len(all_scenarios())
    assert f"| {count} | 1 | 1 | {count - 2} | 0 | 1 |" in told
    never, others = (line for line in told.splitlines() if " run" in line and "`" in line)
    assert "`gpu-ecc`" in never
    assert "`worker-killed`" in others
    assert "`frozen`" not in never + others


def test_what_slurm_itself_does_is_left_to_sbatch(tmp_path: Path) -> None:
    """The trainer refuses it in one line, and the fault is none of ours."""
    slurm = [scenario for scenario in all_scenarios() if scenario.needs_slurm]
    assert {"slurm-time-limit", "slurm-requeued"} <= {scenario.name for scenario in slurm}
    recorder = Recorder(cast("Interpreter", None), "auto", SilentObserver())
    with pytest.raises(MachineError, match=r"Slurm itself .*job\.sbatch"):
        recorder.run(slurm[0], tmp_path / "run")


def test_a_matrix_crosses_the_numbers_of_workers(tmp_path: Path) -> None:
    """A guilty worker who is not there in a smaller job is left out."""
    crossed = cells(["worker-killed"], [Version("2.15.1")], [0, 3], [2, 4])  # type: ignore[list-item]
    made = missing(crossed, tmp_path)
    assert [cell.name for cell in made] == [
        "worker-killed-tf215-2w-0", "worker-killed-tf215-4w-0", "worker-killed-tf215-4w-3",
    ]  # fmt: skip
    assert [cell.scenario.workers for cell in made] == [2, 4, 4]
