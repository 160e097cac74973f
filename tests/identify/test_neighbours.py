"""Which worker a kernel log or a dump belongs to, and what names a peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.identify.test_workers import LINE, LOST, SERVER, workers_of

pytestmark = pytest.mark.runs


@pytest.mark.parametrize("name", ["gn-014.dmesg", "gn-014/kernel.log", "dmesg.gn-014.txt"])
def test_a_log_of_the_kernel_is_of_the_server_on_its_host(
    name: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A host's number is no index; the kernel log of a host without a server is nobody's."""
    logs = {f"worker-{k}.log": SERVER.format(f"gn-01{3 + k}") + LINE for k in (0, 1)}
    run = make_run({**logs, name: "[9.1] NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus.\n"})
    assert workers_of(run)[name] == "worker:1"


def test_a_log_of_the_kernel_is_of_the_worker_in_its_folder(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Its neighbour names the worker, and the host's number is none; with two workers, nobody knows."""
    oom = "[9.1] Out of memory: Killed process 4411 (python3)\n"
    logs = {f"node{k + 1}/worker-{k}.log": LINE for k in (0, 1)} | {"node1/kernel.log": oom}
    assert workers_of(make_run(logs))["node1/kernel.log"] == "worker:0"
    assert workers_of(make_run(logs | {"node1/worker-2.log": LINE}))["node1/kernel.log"] != "worker:0"


def test_a_dump_is_of_the_process_whose_log_has_its_stem(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Whatever the log's name says; a dump of another name stays nobody's."""
    dump = (
        'Process 1: python train.py\nPython v3.11.2\n\nThread 1 (idle): "MainThread"\n    put (sftp.py:7)\n'
    )
    logs = {"rl-0.log": LINE, "rl-1.log": LINE}
    found = workers_of(make_run({**logs, "rl-1.pyspy.txt": dump, "other.pyspy.txt": dump}))
    assert (found["rl-1.pyspy.txt"], found["other.pyspy.txt"]) == (found["rl-1.log"], None)


def test_a_peer_is_named_though_what_it_said_is_cut_off(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Collectors that keep single lines drop the one below."""
    text = LINE + LOST.format(0).removesuffix(":UNKNOWN:Error received from peer\n")
    assert workers_of(make_run({"train.log": text})) == {"train.log": "worker:1"}


IDLE = (
    "2026-11-21 01:02:03 status installed libc6:amd64 2.36\n2026-11-21 01:02:04 startup packages configure\n"
)


def test_a_log_without_training_makes_no_further_worker(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Beside logs of the training whose host's number is refuted, and beside those that name their tasks."""
    logs = [f"step 1 loss 0.5\n{LOST.format(1 - index)}" for index in (0, 1)]
    hosts = {f"gpu-node-{17 + index}/train.log": log for index, log in enumerate(logs)}
    assert workers_of(make_run({**hosts, "gpu-node-17/dpkg.log": IDLE})) == {
        "gpu-node-17/dpkg.log": None,
        "gpu-node-17/train.log": "worker:0",
        "gpu-node-18/train.log": "worker:1",
    }
    named = {f"worker-{index}.log": log for index, log in enumerate(logs)}
    assert workers_of(make_run({**named, "node17/agent.log": IDLE}))["node17/agent.log"] is None


def test_a_log_of_a_task_that_wrote_little_keeps_its_number(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """It follows those of the others, or is one of the tasks that they speak of."""
    logs = {f"out-{index}.txt": LINE for index in (0, 1)}
    assert workers_of(make_run({**logs, "out-2.txt": "+ srun python train.py\n"}))["out-2.txt"] == "worker:2"
    logs = {"out-0.txt": LINE + LOST.format(7)}
    assert workers_of(make_run({**logs, "out-7.txt": "+ srun python train.py\n"}))["out-7.txt"] == "worker:7"


REPORT = (
    "Sender: LSF System <lsfadmin@gpu17>\nSubject: Job 331: <train> in cluster <c1> Exited\n\n"
    "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.\n"
)


@pytest.mark.parametrize("name", ["lsf.331.out", "331.out", "report-0.txt", "gpu-7.out"])
def test_the_report_of_a_scheduler_is_of_no_worker(
    name: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Beside the logs of the workers, whatever the number in its name."""
    logs = {f"worker-{index}.log": LINE + LOST.format(1 - index) for index in (0, 1)}
    found = workers_of(make_run({**logs, name: REPORT}))
    assert found == {name: None} | {log: f"worker:{index}" for index, log in enumerate(logs)}


def test_the_id_of_the_job_is_no_index(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Though the report stands below the output of a worker; that of a task is one."""
    job = REPORT.replace("331", "12")
    assert workers_of(make_run({"12.out": LINE + job}))["12.out"] == "worker:0"
    assert workers_of(make_run({"12.out": LINE + LOST.format(12) + job}))["12.out"] == "worker:12"
    assert workers_of(make_run({"out-1.txt": LINE + REPORT, "out-0.txt": LINE}))["out-1.txt"] == "worker:1"


def test_each_of_several_reports_may_be_of_a_task(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """As of the elements of a job array, one of which wrote nothing else."""
    assert workers_of(make_run({"out-1.txt": REPORT, "out-0.txt": LINE + REPORT}))["out-1.txt"] == "worker:1"


@pytest.mark.parametrize(("number", "worker"), [(331, "worker:2"), (7, "worker:7")])
def test_a_number_far_above_the_known_tasks_is_no_index(
    number: int, worker: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A log that shows training gets the next free one instead; a lower number may be a task's."""
    logs = {f"worker-{index}.log": LINE + LOST.format(1 - index) for index in (0, 1)}
    raised = "Traceback (most recent call last):\n  File 'launch.py'\nValueError: a task failed\n"
    name = f"launch.{number}.out"
    assert workers_of(make_run({**logs, name: LINE + raised}))[name] == worker
