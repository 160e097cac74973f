"""Real jobs of two workers, from their start until nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest

from analyzer.cli.train import main
from analyzer.trainer.faults.memory_group import GROUP, ROOTS
from analyzer.trainer.jobs.sandbox.hosts import Hosts, HostsError

SCENARIO = """\
description: Worker 1 of 2 is killed.
workers: 2
guilty: 1
step: 12
mode: custom
fault: {name: send_signal}
hands_over: [logs, exit_codes]
expect: {cause: peer.killed, culprits: [guilty]}
"""
HELD = """\
description: What a job holds of the machine, all at once; it is only to be let go again.
workers: 2
guilty: 1
step: 12
mode: custom
{more}
hands_over: [logs, exit_codes]
expect: {{cause: unknown, culprits: []}}
"""

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.xdist_group("tensorflow"),
    pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs the extra [trainer]"),
]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def processes_with(mark: bytes) -> list[str]:
    """Return the processes that have the mark in the environment they were started with."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environ.read_bytes():
                found.append(environ.parent.name)
        except OSError:
            continue
    return found


def left_behind(mark: str, folder: Path, trainer: int) -> list[str]:
    """Return what is still there of the job of a trainer (its pid): processes, namespaces, mounts, memory groups."""
    spaces = subprocess.run(["ip", "netns", "list"], check=False, capture_output=True, text=True).stdout
    return [
        *processes_with(mark.encode()),
        *(line for line in spaces.splitlines() if line.startswith(f"mwms-{trainer}-")),
        *(line for line in Path("/proc/mounts").read_text().splitlines() if str(folder) in line),
        *(str(group) for root in ROOTS for group in root.glob(f"{GROUP}{trainer}")),
    ]


def hosts_can_be_made() -> bool:
    """Whether this machine lets root have network namespaces."""
    hosts = Hosts(1)
    try:
        hosts.make()
    except HostsError:
        return False
    finally:
        hosts.remove()
    return True


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A word in the environment of all that a test starts, and a temporary directory of its own."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv("JOB_MARK", mark)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return mark


def test_a_killed_worker_and_nobody_left_behind(tmp_path: Path, mark: str) -> None:
    """The survivor fails, the exit codes say who was killed, and no process outlives the job."""
    scenario = tmp_path / "killed.yaml"
    scenario.write_text(SCENARIO)
    assert main(["run", str(scenario), "-o", str(tmp_path / "run")]) == 0
    codes = (tmp_path / "run/exit_codes.txt").read_text().splitlines()
    # TensorFlow sometimes hangs in a survivor's exit; the trainer then ends it, which it writes as running.
    assert codes[0] in {"worker-0 1", "worker-0 running"}
    assert codes[1] == "worker-1 -9"
    assert "task:1" in (tmp_path / "run/worker-0.log").read_text()
    assert "Traceback" not in (tmp_path / "run/worker-1.log").read_text()
    assert left_behind(mark, tmp_path, os.getpid()) == []


@as_root
def test_the_kernel_kills_a_worker_in_its_memory_group(tmp_path: Path, mark: str) -> None:
    """It ends by SIGKILL, and the group is gone."""
    if not any((root / "cgroup.procs").exists() and os.access(root, os.W_OK) for root in ROOTS):
        pytest.skip("no memory cgroups here")
    scenario = tmp_path / "group.yaml"
    scenario.write_text(HELD.format(more="fault: {name: memory_group}"))
    assert main(["run", str(scenario), "-o", str(tmp_path / "run")]) == 0
    assert "worker-1 -9" in (tmp_path / "run/exit_codes.txt").read_text()
    assert left_behind(mark, tmp_path, os.getpid()) == []


@as_root
@pytest.mark.parametrize(
    "more", ["fault: {name: small_disk}\nprogram: [--checkpoint-every, '50']", "hosts: true"]
)
def test_nothing_is_left_after_ctrl_c(tmp_path: Path, mark: str, more: str) -> None:
    """A job that is interrupted in mid-training lets go of its processes, mounts and namespaces."""
    if "hosts" in more and not hosts_can_be_made():
        pytest.skip("no network namespaces here")
    scenario = tmp_path / "held.yaml"
    scenario.write_text(HELD.format(more=more + "\nepochs: 20"))
    command = [sys.executable, "-c", "from analyzer.cli.train import main; raise SystemExit(main())"]
    job = subprocess.Popen([*command, "run", str(scenario), "-o", str(tmp_path / "run")])
    try:
        while not any(b"step 12 " in log.read_bytes() for log in tmp_path.rglob("0.log")):
            assert job.poll() is None
            time.sleep(0.2)
        assert left_behind(mark, tmp_path, job.pid) != []
        job.send_signal(signal.SIGINT)
        assert job.wait(60) == 130
    finally:
        job.kill()
    assert left_behind(mark, tmp_path, job.pid) == []
