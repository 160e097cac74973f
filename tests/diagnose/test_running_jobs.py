"""A job that ran when its files were collected: what is said, and how a second collection decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
LOG = "".join(f"2026-11-20 10:01:{n:02d},123 INFO train: step {n} loss 0.5\n" for n in range(1, 20))


@pytest.mark.parametrize(
    ("collected", "said"),
    [
        ("10:02:30", "its workers had just made steps"),
        ("13:01:30", "it hung, or its logs are in another time zone"),
    ],
)
def test_a_job_that_runs_is_said_to_run(collected: str, said: str, make_run: MakeRun) -> None:
    """The next step is to look again, not to ask for exit codes."""
    codes = "worker-0 running\nworker-1 running\n"
    moment = f"2026-11-20T{collected}+00:00"
    files = {"exit_codes.txt": codes, "collected_at.txt": f"{moment}/{moment}\n"}
    document = analyze([make_run(files | {"worker-0.log": LOG, "worker-1.log": LOG})]).document
    assert document["verdict"] == "inconclusive"
    assert said in document["summary"]
    assert [step["text"].partition(":")[0] for step in document["next"]] == [
        "Collect the files again in ten minutes"
    ]


SACCT = "JobID|JobName|State|ExitCode\n48213|train|{state}|0:0\n48213.0|python|{state}|0:0\n"


@pytest.mark.parametrize(
    ("state", "said"), [("RUNNING", "Slurm listed the job as running"), ("PENDING", "may still be running")]
)
def test_a_job_that_slurm_lists_as_running_needs_no_exit_codes(
    state: str, said: str, make_run: MakeRun
) -> None:
    """It has none yet; nothing else of the list shows an end."""
    files = {"sacct.txt": SACCT.format(state=state), "worker-0.log": LOG, "worker-1.log": LOG}
    document = analyze([make_run(files)]).document
    assert said in document["summary"]
    assert ("exit_codes" in str(document["deciding_file"])) is (state == "PENDING")
