"""A worker that was killed beside another one's exception is told of, and makes that a less sure cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from analyzer.render import render

RAISED = 'step 2 loss 0.4\nTraceback (most recent call last):\n  File "/w/train.py", line 1, in <module>\nKeyError: 1\n'


@pytest.mark.runs
@pytest.mark.parametrize(
    ("code", "confidence", "part"),
    [("-9", 0.6, "failed"), ("-15", 0.78, "bystander"), ("0", 0.78, "bystander")],
)
def test_a_kill_beside_an_exception_is_told(
    code: str, confidence: float, part: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Nothing shows which came first; SIGTERM is what launchers send to all."""
    logs = {"worker-0.log": RAISED, "worker-1.log": "step 1 loss 0.5\n"}
    document = analyze([make_run({**logs, "exit_codes.txt": f"worker-0 1\nworker-1 {code}\n"})]).document
    assert (document["cause"], document["culprits"]) == ("user.exception", ["worker:0"])
    assert (document["confidence"], document["workers"][1]["part"]) == (confidence, part)
    told = "worker:1 was killed with SIGKILL, and worker:0 raised KeyError" in render(document, "text")
    assert told == (code == "-9")
