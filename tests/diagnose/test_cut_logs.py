"""The silence of a log that was cut shows less than that of a whole one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze

pytestmark = pytest.mark.runs

STEPS = "step 1 loss 0.5\nstep 2 loss 0.4\n"
LOST = (
    "2026-11-21 01:00:30.5: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with "
    "UNAVAILABLE: Connection reset by peer\nAdditional GRPC error information from remote target "
    "/job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:\n"
    ':{"created":"@1795222830.5","description":"Error received from peer","grpc_status":14}\n'
)


@pytest.mark.parametrize(
    ("ends", "confidence", "blamed"),
    [
        (("", ""), 0.9, (["worker:1"], [])),
        (("", "step 3 lo"), 0.78, (["worker:1"], [])),
        (("Trace", "step 3 lo"), 0.4, ([], ["worker:1"])),
        (("Trace", ""), 0.9, (["worker:1"], [])),
    ],
    ids=["whole", "its own", "both", "that of the other"],
)
def test_a_worker_whose_log_is_cut_may_have_gone_on(
    ends: tuple[str, str],
    confidence: float,
    blamed: tuple[list[str], list[str]],
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Its death may have cut it; where another log is cut, too, a tool did."""
    document = analyze(
        [make_run({"worker-0.log": STEPS + LOST + ends[0], "worker-1.log": STEPS + ends[1]})]
    ).document
    assert document["cause"] == "peer.vanished"
    assert (document["confidence"], (document["culprits"], document["suspects"])) == (confidence, blamed)


def test_an_exit_code_says_more_than_the_end_of_a_log(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """A process that is killed leaves half a line, too."""
    logs = {"worker-0.log": f"{STEPS}{LOST}Trace", "worker-1.log": f"{STEPS}step 3 lo"}
    document = analyze([make_run({**logs, "exit_codes.txt": "worker-1 -9\n"})]).document
    assert (document["cause"], document["culprits"], document["confidence"]) == (
        "peer.killed",
        ["worker:1"],
        0.9,
    )
