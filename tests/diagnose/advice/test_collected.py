"""Advice that the collected files make needless, and paths that evidence names."""

from __future__ import annotations

import pytest

from analyzer.diagnose.advice.collected import path_in, without_collected, without_gone_pods
from analyzer.model.findings import Evidence, Step
from analyzer.tables.builders import frame

LOOK = Step("Look there.", "kubectl describe pod POD; dmesg -T | grep -i oom")
ASK = Step("Ask Slurm.", "sacct -j 7 --format=JobID,State")
USED = Step("Compare memory.", "sacct -j 7 --format=JobID,State,MaxRSS")
READ = Step("Read the kernel's log.", "dmesg -T | tail -50")
STEPS = [LOOK, ASK, USED, READ]


def left(*sources: tuple[str, str, str | None], blamed: tuple[str, ...] = ("worker:1",)) -> list[Step]:
    """Return what is left of the steps, by sources (name, kind, worker)."""
    rows = [{"source": name, "kind": kind, "worker": who, "read": "complete"} for name, kind, who in sources]
    return without_collected(STEPS, {"sources": frame("sources", rows)}, blamed)


def test_what_was_collected_is_not_asked_for() -> None:
    """A kernel log of the blamed worker's host, the accounting but for the memory that was used."""
    assert left(("node12/dmesg.txt", "log", "worker:1")) == [
        LOOK._replace(command="kubectl describe pod POD"),
        ASK,
        USED,
    ]
    assert left(("sacct.txt", "sacct", None)) == [LOOK, USED, READ]


@pytest.mark.parametrize(
    "source",
    [("node7/dmesg.txt", "log", "worker:0"), ("dmesg.txt", "log", None), ("a.log", "log", "worker:1")],
)
def test_a_kernel_log_of_another_host_is_not_enough(source: tuple[str, str, str | None]) -> None:
    """Nor one of an unknown host."""
    assert left(source) == STEPS
    assert left(source, blamed=()) == STEPS


def test_the_only_step_stays() -> None:
    """No advice at all would be worse."""
    rows = [{"source": "dmesg.txt", "kind": "log", "worker": "worker:1", "read": "complete"}]
    assert without_collected([READ], {"sources": frame("sources", rows)}, ["worker:1"]) == [READ]


def test_a_pod_that_is_gone_is_not_asked_for() -> None:
    """The step says where else to look; events and other pods are still there."""
    gone = {"facts": frame("facts", [{"source": "not_collected.txt", "key": "pod_gone", "value": "b-2"}])}
    step = Step("Look.", "kubectl -n ml logs b-2 --previous > w; kubectl describe pod b-2 | tail; dmesg -T")
    (left_of,) = without_gone_pods([step], gone)
    assert left_of.text.startswith("Look. Kubernetes has no pod b-2 any more: ")
    assert left_of.command == "dmesg -T"
    others = [Step("Look.", "kubectl get events; kubectl logs b-20"), ASK]
    assert without_gone_pods(others, gone) == others


@pytest.mark.parametrize(
    ("excerpts", "path"),
    [
        (["[Errno 2] No such file or directory: '/mnt/data/shard-1.npz'"], "/mnt/data/shard-1.npz"),
        (["mount of filer:/export/data on /mnt/data", "Errno 2: '/mnt/data/a.npz'"], "/mnt/data/a.npz"),
        (["/mnt/data/a.npz; No such file or directory"], "/mnt/data/a.npz"),
        (["'/mnt/data/a.npz'", "'/mnt/data/b.npz'"], None),
        (['File "/workspace/train.py", line 3', "/job:worker/replica:0/task:1"], None),
        (["No such file: '/mnt/a b;reboot/c'"], None),
        (["gs://bucket/data/a.npz not found"], None),
    ],
)
def test_the_path_that_evidence_names(excerpts: list[str], path: str | None) -> None:
    """Only one, and never what a shell would read as more than a word."""
    found = path_in([Evidence("", "line", excerpt=each) for each in excerpts])
    assert found == ({"PATH": path} if path else {})
