"""A job of one process: its failure has no suspect, and no guess of an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from analyzer.render import render

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]
RAISED = """step 1 loss 0.5
Traceback (most recent call last):
  File "/workspace/train.py", line 40, in <module>
    train()
KeyError: 'label'
"""
MIRRORED = "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/job:localhost/replica:0/task:0/device:GPU:1')\n"
CLUSTER = "INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {'worker': ['a:1', 'b:1']}, task_type = 'worker', task_id = 1, num_workers = 2\n"


def test_the_only_process_of_a_job_is_named_but_not_accused(make_run: MakeRun) -> None:
    """`MirroredStrategy` on one host has no other worker; the JSON says where the cause lies."""
    document = analyze([make_run({"train.log": MIRRORED + RAISED})]).document
    assert (document["culprits"], document["suspects"]) == (["worker:0"], [])
    for kind in ("text", "markdown"):
        assert "only worker: worker:0" in render(document, kind).replace("\\", "")
        assert "culprit" not in render(document, kind)


def test_the_only_log_may_be_of_a_job_with_others(make_run: MakeRun) -> None:
    """Then it stays a suspect, but a reader is told that it is the only worker seen."""
    document = analyze([make_run({"train.log": RAISED})]).document
    assert (document["culprits"], document["suspects"]) == ([], ["worker:0"])
    text = render(document, "text")
    assert "only worker seen: worker:0 (train.log)" in text
    assert "guessed" not in text


def test_a_person_who_names_the_strategy_tells_nothing(make_run: MakeRun) -> None:
    """Processes that a scheduler starts side by side may use it, too."""
    document = analyze([make_run({"train.log": f"MirroredStrategy is slow under srun\n{RAISED}"})]).document
    assert (document["culprits"], document["suspects"]) == ([], ["worker:0"])


def test_a_worker_of_a_cluster_is_no_lone_process(make_run: MakeRun) -> None:
    """It names its peer, of which there is no log."""
    document = analyze([make_run({"train.log": MIRRORED + CLUSTER + RAISED})]).document
    assert "only worker seen" not in render(document, "text")
