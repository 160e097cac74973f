"""A trace that cannot be read, or not whole, is no all-clear."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer import analyze
from analyzer.model.run import Run
from tests.recordings import ROOT

pytestmark = pytest.mark.recordings

RULES = ("straggler", "network-bound", "input-bound", "input-bound-worker", "collective-stalled-traced")


def damaged(folder: Path, change: Callable[[bytes], bytes], workers: str = "worker-*") -> Run:
    """The recording of a slow worker, with other bytes in its traces."""
    run = folder / "run"
    shutil.copytree(ROOT / "sample_runs" / "slow-worker-tf215" / "run", run)
    for path in run.rglob(f"{workers}/**/*.xplane.pb"):
        path.write_bytes(change(path.read_bytes()))
    return analyze(run)


def outcomes(run: Run) -> dict[str, tuple[str, str]]:
    """Rule → what became of it, and why."""
    findings = {each["rule"]: each for each in run.diagnosis.document["findings"]}
    return {rule: (findings[rule]["outcome"], findings[rule]["reason"]) for rule in RULES}


@pytest.mark.parametrize(
    "change", [lambda _: b"", lambda data: data[: len(data) // 3], lambda _: b"hello world\n" * 9]
)
def test_traces_of_which_nothing_is_left_say_nothing(
    change: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """Rules on traces do not apply, and the damage is said with its offset."""
    run = damaged(tmp_path, change)
    assert {outcome for outcome, _ in outcomes(run).values()} == {"not-applicable"}
    assert run.tables["damage"]["offset"].null_count() == 0
    assert run.tables["damage"]["source"].n_unique() == 3


def test_what_one_lost_trace_might_have_shown_is_not_called_quiet(tmp_path: Path) -> None:
    """That of the slow worker: no rule fires, and each says that part could not be read."""
    for outcome, reason in outcomes(damaged(tmp_path, lambda _: b"", "worker-2")).values():
        assert outcome == "quiet"
        assert reason.endswith("part of a trace could not be read")


def test_a_trace_that_lost_its_end_still_tells(tmp_path: Path) -> None:
    """A cut of a few bytes costs them alone."""
    found = outcomes(damaged(tmp_path, lambda data: data[:-100]))
    assert found["straggler"][0] == "fired"
