"""What Kubernetes says of containers that were restarted: which attempt an exit code ended, and how many there were."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.ingest.platform.kubernetes.test_pods import LOGS, pod
from tests.rules import our_rules

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]


def test_a_container_that_started_anew_ended_before(make_run: MakeRun) -> None:
    """While it runs, the code of its last life is what there is."""
    again = pod(1, 0, "x")
    again["status"]["containerStatuses"][0] |= {
        "lastState": {"terminated": {"exitCode": 139, "reason": "Error"}},
        "state": {"running": {"startedAt": "2026-11-21T02:00:00Z"}},
    }
    tables = load_tables(discover([make_run({**LOGS, "pod.json": json.dumps(again, indent=4)})]), our_rules())
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert codes.select("worker", "value").rows() == [("worker:1", "-11")]


ENDED = {"terminated": {"exitCode": 139, "reason": "Error"}}


@pytest.mark.parametrize(
    ("state", "codes"),
    [
        ({"running": {"startedAt": "2026-11-21T02:00:00Z"}}, [(2, "-11")]),
        ({"terminated": {"exitCode": 1}}, [(2, "-11"), (3, "1")]),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, [(3, "-11")]),
    ],
    ids=["runs again", "ended again", "waits for its next start"],
)
def test_the_last_state_is_that_of_the_attempt_before(
    make_run: MakeRun, state: Mapping[str, Any], codes: list[tuple[int, str]]
) -> None:
    """While a container waits for its next start, there is no attempt after it."""
    again = pod(1, 0, "x")
    again["status"]["containerStatuses"][0] |= {"lastState": ENDED, "state": state, "restartCount": 2}
    tables = load_tables(discover([make_run({**LOGS, "pod.json": json.dumps(again, indent=4)})]), our_rules())
    found = tables["facts"].filter(key="exit_code").select("attempt", "value")
    assert sorted(found.rows()) == codes
    assert tables["lifetimes"].filter(worker="worker:1")["attempts"].item() == 3


def test_the_plain_table_counts_restarts(make_run: MakeRun) -> None:
    """In its column, with or without when the last one was."""
    table = "mnist-worker-0   0/1   CrashLoopBackOff   5 (40s ago)   11m\nmnist-worker-1   1/1   Running   0   11m\n"
    tables = load_tables(discover([make_run({**LOGS, "get-pods.txt": table})]), our_rules())
    assert dict(tables["lifetimes"].select("worker", "attempts").iter_rows()) == {
        "worker:0": 6,
        "worker:1": 1,
    }


def test_the_reason_of_the_last_end_is_quoted_first(make_run: MakeRun) -> None:
    """That of the attempt before stands above it in the file."""
    again = pod(1, 0, "x")
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    container = again["status"]["containerStatuses"][0] | {"restartCount": 1}
    container.pop("state", None)
    again["status"]["containerStatuses"] = [container | {"lastState": killed, "state": killed}]
    text = json.dumps(again, indent=4)
    tables = load_tables(discover([make_run({**LOGS, "pod.json": text})]), our_rules())
    before, last = (number for number, line in enumerate(text.split("\n"), 1) if "OOMKilled" in line)
    found = tables["matches"].filter(pattern="host-oom-killed/oom_record", source="pod.json")
    assert found["line"].to_list() == [last, before]


def test_a_state_alone_below_its_command_tells_the_exit_code(make_run: MakeRun) -> None:
    """As `-o jsonpath` prints it, in one line, in a paste."""
    state = json.dumps(
        {"terminated": {"exitCode": 0, "finishedAt": "2026-11-21T03:10:23Z", "reason": "Completed"}}
    )
    paste = f"$ kubectl logs fit-worker-1\nstep 1 loss 0.5\n$ kubectl get pod fit-worker-1 -o jsonpath='{{.status}}'\n{state}\n"
    paste += "$ kubectl logs fit-worker-0\nstep 1 loss 0.5\n"
    facts = load_tables(discover([make_run({"paste.txt": paste})]), our_rules())["facts"]
    assert facts.filter(key="exit_code").select("worker", "value").rows() == [("worker:1", "0")]
