"""The batch script on a real Slurm of three nodes: what ends a job there, and what Slurm leaves of it.

The workers are small programs without TensorFlow; Slurm, its accounting and its cgroups are real.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from tests.collect.real_slurm import DAEMONS, wait_for
from tests.recordings import ROOT
from tests.trainer.slurm_nodes import SlurmNodes
from tests.trainer.test_own_program import SUM

MISSING = [name for name in DAEMONS if not shutil.which(name)]
pytestmark = [
    pytest.mark.processes,
    pytest.mark.slurm,
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(bool(MISSING), reason=f"no Slurm here: {', '.join(MISSING)} missing"),
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's daemons need root"),
]

SCENARIO = """\
description: One of the jobs of the tests.
workers: 3
mode: custom
stall_timeout: 200
hands_over: [logs]
expect: {cause: unknown, culprits: []}
"""
HOG = "    hog = bytearray((rank == 1 and step >= 20) * (400 << 20))\n"
FOR_EVER = 1_000_000
BEFORE_THE_END = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmNodes]:
    """Three nodes, and `mwms-train` on the path of their jobs."""
    cluster = SlurmNodes(tmp_path_factory.mktemp("slurm"), 3)
    folder = tmp_path_factory.mktemp("bin")
    starter = folder / "mwms-train"
    lines = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    starter.write_text(lines + "from analyzer.cli.train import main\nsys.exit(main())\n")
    starter.chmod(0o755)
    cluster.environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    try:
        cluster.start()
        cluster.idle()
        yield cluster
    finally:
        cluster.stop()


class SlurmJob:
    """One submitted job, in a folder that all nodes share; a worker whose peer left ends quietly."""

    def __init__(self, slurm: SlurmNodes, folder: Path, steps: int = 60, extra: str = "") -> None:
        self.slurm, self.folder, self.number = slurm, folder, ""
        code = folder / "code"
        code.mkdir()
        (code / "rows.txt").write_text("".join(f"{number}\n" for number in range(50)))
        program = SUM.replace("range(1, 61):\n", f"range(1, {steps + 1}):\n{extra}")
        program = program.replace("reader.readline()", "(reader.readline() or sys.exit(143))")
        program += "time.sleep(2)  # a connection that is reset early loses what its peer has not read\n"
        (code / "sum.py").write_text(f"#!{sys.executable}\n{program}")
        (code / "sum.py").chmod(0o755)
        (folder / "job.yaml").write_text(SCENARIO)
        slurm.environment["WORKER_OPTIONS"] = f"--program ./sum.py --directory {code}"

    def submit(self, *options: str) -> str:
        """Submit the batch script and return the number of the job."""
        variables = f"--export=ALL,SCENARIO={self.folder}/job.yaml,SHARED={self.folder}/shared"
        words = ("--nodes=3", "--mem=300", "--time=10", variables, *options)
        self.number = self.slurm.submit(ROOT / "deploy/trainer/job.sbatch", self.folder, *words)
        return self.number

    def until_training(self) -> None:
        """Wait until all workers train."""
        self.slurm.wait(self.number, "RUNNING")
        logs = [self.run / f"worker-{index}.log" for index in range(3)]
        wait_for(lambda: all(log.exists() and "step 3:" in log.read_text() for log in logs), "training")

    @property
    def run(self) -> Path:
        """The run directory."""
        return self.folder / "shared/job/run"

    def diagnosis(self) -> Any:
        """What the analyzer says of what is left when accounting knows the end."""
        out = self.folder / f"slurm-{self.number}.out"
        if out.exists():
            shutil.copy(out, self.run)
        told = self.slurm.ask("sacct", f"--jobs={self.number}", "--parsable2", "--format=ALL")
        (self.run / "sacct.txt").write_text(told)
        return analyze(self.run).document


def test_a_job_comes_to_its_end(slurm: SlurmNodes, tmp_path: Path) -> None:
    """Each task leaves its log, and the script what Slurm prints and accounts."""
    job = SlurmJob(slurm, tmp_path)
    assert slurm.wait(job.submit(), "COMPLETED", "FAILED") == "COMPLETED"
    left = {path.name for path in job.run.iterdir()}
    assert left == {"worker-0.log", "worker-1.log", "worker-2.log", f"slurm-{job.number}.out", "sacct.txt"}
    assert all("step 60" in (job.run / f"worker-{index}.log").read_text() for index in range(3))


def test_a_step_over_its_memory_is_killed(slurm: SlurmNodes, tmp_path: Path) -> None:
    """By the cgroup of the task's node; Slurm and the analyzer name the task."""
    job = SlurmJob(slurm, tmp_path, extra=HOG)
    assert slurm.wait(job.submit(), "FAILED", "OUT_OF_MEMORY", "COMPLETED") != "COMPLETED"
    said = job.diagnosis()
    assert (said["cause"], said["culprits"]) == ("resource.host_oom_killed", ["worker:1"])


def test_a_job_at_its_time_limit_is_ended(slurm: SlurmNodes, tmp_path: Path) -> None:
    """After a minute, the shortest that Slurm knows."""
    job = SlurmJob(slurm, tmp_path, FOR_EVER)
    assert slurm.wait(job.submit("--time=1"), "TIMEOUT", "FAILED") == "TIMEOUT"
    assert job.diagnosis()["cause"] == "scheduler.time_limit"


def test_a_cancelled_job_is_ended(slurm: SlurmNodes, tmp_path: Path) -> None:
    """By `scancel`, of which accounting tells who it was."""
    job = SlurmJob(slurm, tmp_path, FOR_EVER)
    job.submit()
    job.until_training()
    slurm.ask("scancel", job.number)
    slurm.wait(job.number, "CANCELLED")
    assert job.diagnosis()["cause"] == "scheduler.cancelled"


def test_a_requeued_job_runs_again(slurm: SlurmNodes, tmp_path: Path) -> None:
    """The tasks of the second attempt meet anew, and the logs have both attempts."""
    job = SlurmJob(slurm, tmp_path, FOR_EVER)
    job.submit("--requeue")
    job.until_training()
    slurm.ask("scontrol", "requeue", job.number)
    slurm.wait(job.number, "PENDING", "REQUEUED")
    slurm.idle()  # the end of the first batch script would be taken for that of a second that already runs
    slurm.wait_until(lambda: not slurm.steps(job.number), "end of the first attempt's steps", 60)
    logs = [job.run / f"worker-{index}.log" for index in range(3)]

    def runs_again() -> bool:
        """Ask Slurm not to wait its two minutes before the second attempt, until that trains."""
        slurm.ask("scontrol", "update", f"JobId={job.number}", "StartTime=now")
        if slurm.state(job.number) not in BEFORE_THE_END:
            raise TimeoutError(f"the job ended: {(tmp_path / f'slurm-{job.number}.out').read_text()}")
        return all(log.read_text().count("step 3:") == 2 for log in logs)

    slurm.wait_until(runs_again, "a second attempt", 120)
    assert len([*(tmp_path / "shared/job").glob("tasks-*")]) == 2
    slurm.ask("scancel", job.number)
    slurm.wait(job.number, "CANCELLED")


def test_a_node_that_is_taken_down_ends_the_job(slurm: SlurmNodes, tmp_path: Path) -> None:
    """As an administrator does it whose node fails."""
    job = SlurmJob(slurm, tmp_path, FOR_EVER)
    job.submit("--no-requeue")
    job.until_training()
    slurm.ask("scontrol", "update", "NodeName=node3", "State=DOWN", "Reason=broken")
    assert slurm.wait(job.number, "NODE_FAIL", "FAILED", "CANCELLED") == "NODE_FAIL"
    slurm.ask("scontrol", "update", "NodeName=node3", "State=RESUME")
    slurm.idle()
    assert job.diagnosis()["verdict"] != "healthy"
