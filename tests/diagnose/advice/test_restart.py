"""How the scheduler starts a job again without the machine of the culprit, where the files tell the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.diagnose.advice.restart import for_platform, restart_elsewhere
from analyzer.model.findings import Step
from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze
from analyzer.render import render
from analyzer.tables.builders import frame

MakeRun = Callable[[Mapping[str, str]], Path]
FAULT = "[Sat Nov 21 02:08:30 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"
SRUN = "srun: error: cn03: task 1: Exited with exit code 1\n"


def restarted(hosts: list[str], *facts: tuple[str, str, str], kind: str = "log") -> str | None:
    """Return how to restart without worker:1, whose hosts are given, by facts (source, key, value)."""
    sources = [{"source": "a", "kind": kind, "read": "complete"}]
    rows = [{"worker": "worker:1", "source": s, "key": key, "value": value} for s, key, value in facts]
    tables = {"facts": frame("facts", rows), "sources": frame("sources", sources)}
    found = restart_elsewhere(["worker:1"], hosts, tables)
    return found and found["text"]


@pytest.mark.parametrize("key", ["slurm", "job_state", "env:SLURM_JOB_ID"])
def test_slurm_excludes_the_node(key: str) -> None:
    """Known by what srun prints, by the accounting or by the environment; a node has no domain."""
    assert restarted(["cn03.cluster.local"], ("a", key, "x")) == "sbatch --exclude=cn03 JOB.sh"


def test_kubernetes_names_the_node_of_the_pod() -> None:
    """Only where the description of the pod states the node: a pod's own name of its host is no node."""
    assert "values: [gke-7]" in str(restarted(["gke-7"], ("a", "host", "gke-7"), kind="pods"))
    assert restarted(["bert-worker-1"], ("b", "host", "bert-worker-1"), kind="pods") is None


def test_nothing_is_guessed() -> None:
    """Neither the scheduler nor a node of which only the address is known."""
    assert restarted(["cn03"], ("a", "host", "cn03")) is None
    assert restarted(["cn03", "10.0.3.7"], ("a", "slurm", "srun")) is None
    assert restarted([], ("a", "slurm", "srun")) is None


@pytest.mark.parametrize(
    ("platform", "command", "kept"),
    [
        ("kubernetes", "sacct -j 7; kubectl describe pod POD | grep -i limits; dmesg -T", "kubectl describe pod POD | grep -i limits; dmesg -T"),
        ("slurm", "sacct -j 7; kubectl describe pod POD; dmesg -T", "sacct -j 7; dmesg -T"),
        ("slurm", "kubectl get pods", "kubectl get pods"),
        (None, "sacct -j 7; kubectl get pods", "sacct -j 7; kubectl get pods"),
        ("slurm", None, None),
    ],
)  # fmt: skip
def test_a_step_has_the_commands_of_its_platform(
    platform: Any, command: str | None, kept: str | None
) -> None:
    """Without those of another one, unless nothing would be left."""
    assert for_platform(Step("Look.", command), platform) == Step("Look.", kept)


def test_reports_show_the_command(make_run: MakeRun) -> None:
    """From srun's own lines to the page and to text, with the name of the node masked where that is asked."""
    env = "HOSTNAME=cn03\nTF_CPP_MIN_LOG_LEVEL=1\nTF_ENABLE_ONEDNN_OPTS=0\n"
    logs = {"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": f"step 1 loss 0.5\n{FAULT}"}
    run = make_run({**logs, "env-worker-1.txt": env, "slurm-7.out": SRUN})
    found = analyze([run], AnalysisOptions(redaction="topology")).document
    assert found["action"]["restart"] == {"scheduler": "slurm", "text": "sbatch --exclude=host-1 JOB.sh"}
    for name in ("html", "text", "jira"):
        assert "sbatch --exclude=host" in render(found, name).replace("\\", ""), name
