"""A run that exceeds its budget is read in part, and the verdict says so."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path

import pytest

from analyzer.model.budget import Limits
from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
RAISED = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: bad\n'
STEPS = "".join(f"step {n} loss 0.5\n" for n in range(60_000))
BYTES = AnalysisOptions(budget=Limits(inf, 1e-3))


def test_what_exceeds_the_budget_is_damage_and_said(make_run: MakeRun) -> None:
    """The second log is unpacked in part; its worker is no culprit, and nothing is surer than possible."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n"})
    (run / "worker-1.log.gz").write_bytes(gzip.compress((STEPS + RAISED).encode(), 1))
    document = analyze([run], BYTES).document
    (damage,) = document["damage"]
    assert (damage["source"], damage["what"]) == (
        "worker-1.log.gz",
        "the rest exceeds the run's budget of 0.001 GB to unpack",
    )
    assert document["why"][-1].startswith("The verdict rests on part of the files: of worker-1.log.gz, ")
    assert not document["culprits"]
    assert document["confidence"] <= 0.6
    assert analyze([run]).document["cause"] == "user.exception"


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_an_archive_is_unpacked_as_far_as_the_budget_reaches(suffix: str, make_run: MakeRun) -> None:
    """Members behind it are missing, and the archive itself is damaged."""
    folder = make_run({"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": STEPS, "worker-2.log": STEPS})
    archive = folder.with_suffix(suffix)
    with tarfile.open(archive, "w:gz" if suffix.endswith("gz") else "w") as packed:
        for file in sorted(folder.iterdir()):
            packed.add(file, file.name)
    document = analyze([archive], BYTES).document
    reasons = {source["name"]: source["reason"] for source in document["sources"]}
    assert reasons["worker-0.log"] == ""
    assert "worker-2.log" not in reasons
    assert "budget of 0.001 GB" in reasons[archive.name]
    assert "rests on part" in document["why"][-1]


def test_a_run_without_time_is_not_read(make_run: MakeRun) -> None:
    """Each file says why."""
    with pytest.raises(Exception, match="budget of 0 s of processor time"):
        analyze([make_run({"worker-0.log": STEPS})], AnalysisOptions(budget=Limits(0, inf)))
