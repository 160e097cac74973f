"""A job that ran when its files were collected: what is said, and how a second collection decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from analyzer.render import render
from analyzer.render.phrasing import uncollected

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
LOG = "".join(f"2026-11-20 10:01:{n:02d},123 INFO train: step {n} loss 0.5\n" for n in range(1, 20))


@pytest.mark.parametrize(
    ("collected", "said"),
    [
        ("10:02:30", "its workers had just completed steps"),
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


def test_a_pod_that_runs_has_no_end(make_run: MakeRun) -> None:
    """Its lane ends with the last line, not with the square of an end, and no exit code is asked for."""
    table = "bert-worker-0   1/1   Running   0   11m\nbert-worker-1   1/1   Running   0   11m\n"
    logs = {"worker-0.log": LOG, "worker-1.log": LOG}
    document = analyze([make_run(logs | {"get-pods.txt": table})]).document
    assert {w["ended"]["says"] for w in document["workers"]} == {"was still running when its pod was listed"}
    assert [e["kind"] for e in document["timeline"] if "still running" in e["text"]] == ["last_seen"] * 2
    assert "end" not in {e["kind"] for e in document["timeline"]}
    assert not any("exit code" in text for text in uncollected(document))
    page = render(document, "html")
    assert "last seen, still running</span>" in page
    assert "left no record" not in page


def test_without_a_list_of_pods_an_end_is_unknown(make_run: MakeRun) -> None:
    """Nothing says that it still ran."""
    document = analyze([make_run({"worker-0.log": LOG, "worker-1.log": LOG})]).document
    assert {w["ended"]["says"] for w in document["workers"]} == {"left no record of how it ended"}
    assert "last_seen" not in {e["kind"] for e in document["timeline"]}


@pytest.mark.parametrize(
    ("more", "asked"), [({}, False), ({"exit_codes.txt": "worker-0 7\nworker-1 7\n"}, True)]
)
def test_a_rule_is_asked_for_only_once_the_job_ended(
    more: Mapping[str, str], asked: bool, make_run: MakeRun
) -> None:
    """There is nothing to explain before."""
    document = analyze([make_run({"worker-0.log": LOG, "worker-1.log": LOG, **more})]).document
    assert document["cause"] in {None, "unknown"}
    assert any("mwms-rules new" in (step["command"] or "") for step in document["next"]) is asked
