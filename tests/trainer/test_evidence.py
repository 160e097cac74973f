"""Runs in which TensorFlow crashed by itself prove nothing of a fault."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from analyzer.trainer.jobs.sandbox.workspace import Workspace
from analyzer.trainer.scenario import Scenario
from analyzer.trainer.witness.evidence import Evidence, FaultMissedError


@pytest.mark.parametrize(("cause", "code", "refused"), [
    ("perf.network_bound", -6, True), ("peer.killed", -6, False), ("peer.killed", -11, True), ("perf.straggler", 1, False),
])  # fmt: skip
def test_a_crash_of_an_innocent_worker_is_refused(
    cause: str, code: int, refused: bool, tmp_path: Path
) -> None:
    """The profiler of TensorFlow 2.21 aborted a worker of a job whose network only lost packets."""
    scenario = Scenario("one", tmp_path, "", 2, "custom", (), {"cause": cause, "culprits": []}, guilty=1)
    lives = [SimpleNamespace(index=0, code=code), SimpleNamespace(index=1, code=-11)]
    evidence = Evidence(Workspace(tmp_path, scenario, ()), SimpleNamespace(lives=lives))  # type: ignore[arg-type]
    with pytest.raises(FaultMissedError, match="worker 0 crashed") if refused else nullcontext():
        evidence.require_no_foreign_crash()


@pytest.mark.parametrize(("code", "reason"), [(1, None), (-11, "crashed by itself"), (0, "ended with 0")])
def test_a_crash_before_the_damage_is_no_proof(code: int, reason: str | None, tmp_path: Path) -> None:
    """TensorFlow's profiler crashed a worker that had opened a damaged file and not yet met the damage."""
    scenario = Scenario("one", tmp_path, "", 1, "fit", (), {"cause": "data.corrupt_record", "culprits": []})
    lives = [SimpleNamespace(index=0, code=code, ended=9.0)]
    evidence = Evidence(Workspace(tmp_path, scenario, ()), SimpleNamespace(lives=lives))  # type: ignore[arg-type]
    with pytest.raises(FaultMissedError, match=reason) if reason else nullcontext():
        assert evidence.require_raised(0) == "worker 0 ended with 1"


@pytest.mark.parametrize(
    ("cause", "codes", "reason"),
    [
        ("resource.gpu_oom", [1, None], None),
        ("resource.gpu_oom", [None, None], "no worker ended with an error"),
        ("resource.gpu_oom", [0, 0], "every worker ended with 0"),
        ("config.evaluator_in_cluster", [None, None], None),
    ],
)
def test_a_job_that_still_runs_shows_no_lack_of_memory(
    cause: str, codes: list[int | None], reason: str | None, tmp_path: Path
) -> None:
    """A job on a GPU was stopped before its first step, and would have been kept as out of memory."""
    scenario = Scenario("one", tmp_path, "", 2, "custom", (), {"cause": cause, "culprits": []})
    lives = [SimpleNamespace(index=index, code=code) for index, code in enumerate(codes)]
    evidence = Evidence(Workspace(tmp_path, scenario, ()), SimpleNamespace(lives=lives))  # type: ignore[arg-type]
    with pytest.raises(FaultMissedError, match=reason) if reason else nullcontext():
        assert evidence.require_trouble().startswith(", worker 0 ")
