"""Where a silent worker is blamed, the report quotes where its log stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.pipeline import analyze

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
AGENT = "I0000 00:00:1795229994.270370    7327 coordination_service_agent.cc:245] Coordination agent has successfully connected.\n"
SIGTERM = "W0000 00:00:1795230048.272621    7426 preemption_notifier.cc:90] SIGTERM caught at 2026-11-21T03:00:48.272619599+00:00\n"
AHEAD = f"{AGENT}step 23 loss 0.5\nstep 24 loss 0.5\n"
BEHIND = f"{AGENT}step 23 loss 0.5\n"
LOST = (
    "2026-11-21 01:00:30.5: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with "
    "UNAVAILABLE: Connection reset by peer\nAdditional GRPC error information from remote target "
    "/job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:\n"
    ':{"created":"@1795222830.5","description":"Error received from peer","grpc_status":14}\n'
)


def _quotes(files: Mapping[str, str], make_run: MakeRun, worker: str) -> list[tuple[Any, ...]]:
    """Return (cause, place, statement, words) of what the verdict's finding quotes of a worker."""
    document = analyze([make_run(files)]).document
    chosen = next(each for each in document["findings"] if each["rule"] == document["rule"])
    return [
        (document["cause"], f"{each['source']}:{each['line']}", each["says"], each["excerpt"])
        for each in chosen["evidence"]
        if each["worker"] == worker
    ]


def test_a_hang_quotes_the_last_line_above_the_signal_that_ended_it(make_run: MakeRun) -> None:
    """What the worker did after its last step is what it hangs in; SIGTERM came long after."""
    files = {
        "worker-0.log": AHEAD + SIGTERM,
        "worker-1.log": f"{BEHIND}waiting for the lock of the cache\n{SIGTERM}",
    }
    quoted = _quotes(files, make_run, "worker:1")
    last = ("worker-1.log:3", "the last line of worker:1 before SIGTERM", "waiting for the lock of the cache")
    assert ("hang.collective_stalled", *last) in quoted


def test_a_last_line_that_is_its_last_step_is_quoted_once(make_run: MakeRun) -> None:
    """The sentence on its last step has it already."""
    quoted = _quotes(
        {"worker-0.log": AHEAD + SIGTERM, "worker-1.log": BEHIND + SIGTERM}, make_run, "worker:1"
    )
    assert [place for _, place, *_ in quoted] == ["worker-1.log:2"]


def test_a_log_that_ends_without_an_error_shows_where_it_ends(make_run: MakeRun) -> None:
    """A redrawn progress bar counts, the rest of a bracket does not."""
    files = {
        "worker-0.log": f"step 23 loss 0.5\n{LOST}",
        "worker-1.log": "Epoch 2/3\n 9/20 [==>...] - loss: 0.4\n  }\n",
    }
    quoted = _quotes(files, make_run, "worker:1")
    assert (
        "peer.vanished",
        "worker-1.log:2",
        "the log of worker:1 ends without an error",
        " 9/20 [==>...] - loss: 0.4",
    ) in quoted


def test_nothing_is_said_of_the_log_of_a_worker_that_has_none(make_run: MakeRun) -> None:
    """Its pod shows that it was killed."""
    files = {
        "worker-0.log": f"step 23 loss 0.5\n{LOST}",
        "events.txt": "8m  Warning  OOMKilling  pod/bert-worker-1  Memory cgroup out of memory: Killed process 7\n",
        "exit_codes.txt": "worker-1 137\n",
    }
    said = [says for *_, says, _ in _quotes(files, make_run, "worker:1")]
    assert "no log of worker:1 could be read" in said
    assert not any(each.startswith("the log of") for each in said)


def test_a_worker_without_a_log_has_no_last_line(make_run: MakeRun) -> None:
    """The absence of its log stays an absence."""
    files = {
        "tf_config-0.json": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}',
        "worker-0.log": "CreateSession still waiting for response from worker: /job:worker/replica:0/task:1\n",
    }
    assert {place for _, place, *_ in _quotes(files, make_run, "worker:1")} >= {"None:None"}
