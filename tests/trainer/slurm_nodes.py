"""A real Slurm of several nodes on one machine: `slurmd -N` for each, memory limits by cgroups; needs root."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.collect.real_slurm import Slurm, wait_for

CGROUPS = "CgroupAutomount=no\nCgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\n"
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000 State=UNKNOWN\n"


class SlurmNodes(Slurm):
    """The daemons of a cluster of nodes called `node1` and so on."""

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self.nodes = [f"node{number + 1}" for number in range(count)]
        (folder / "cgroup.conf").write_text(CGROUPS)
        self._rewrite(folder / "slurm.conf")

    def _rewrite(self, conf: Path) -> None:
        """Replace the one node of the configuration by several, with a folder each."""
        lines = conf.read_text().splitlines(keepends=True)
        host = next(line.split()[0] for line in lines if line.startswith("NodeName="))[len("NodeName=") :]
        kept = [line for line in lines if not line.startswith(("NodeName=", "PartitionName=", "SlurmdPort="))]
        text = "".join(kept).replace("/spool\n", "/spool-%n\n").replace("slurmd.", "slurmd-%n.")
        text = text.replace("task/none", "task/cgroup").replace("CR_CPU\n", "CR_CPU_Memory\n")
        for name, port in zip(self.nodes, self._node_ports, strict=True):
            text += NODE.format(name=name, host=host, port=port)
        conf.write_text(text + f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES State=UP\n")

    def _daemon(self, *arguments: str) -> None:
        """Start a daemon, and `slurmd` once for each node."""
        if arguments[0] != "slurmd":
            super()._daemon(*arguments)
            return
        for node in self.nodes:
            super()._daemon(*arguments, "-N", node)

    def ask(self, *arguments: str) -> str:
        """Run a command of Slurm and return what it prints."""
        return self._run(*arguments)

    def submit(self, script: Path, folder: Path, *options: str) -> str:
        """Submit a batch script from a folder and return the number of the job."""
        done = subprocess.run(
            ["sbatch", "--parsable", *options, str(script)],
            cwd=folder, env=self.environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def wait(self, job: str, *states: str, seconds: float = 200) -> str:
        """Wait until accounting shows a job in one of some states, and return that state."""
        asked = ("sacct", f"--jobs={job}", "--allocations", "--noheader", "--parsable2", "--format=State")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for line in self._run(*asked).splitlines():
                if line.startswith(states):
                    return line
            time.sleep(0.3)
        raise TimeoutError(f"job {job} never came to {' or '.join(states)}: {self._run(*asked)}")

    def state(self, job: str) -> str:
        """Return the state that the controller knows of a job."""
        return self._run("squeue", f"--jobs={job}", "--noheader", "--states=all", "--format=%T").strip()

    def steps(self, job: str) -> list[str]:
        """Return the processes of `slurmstepd` that still look after a job, its batch script's among them."""
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        return [line for line in listed.splitlines() if line.startswith(f"slurmstepd: [{job}.")]

    def idle(self) -> None:
        """Wait until all nodes are idle."""
        self.wait_until(lambda: self._idle_nodes() == len(self.nodes), "idle nodes", 120)

    def wait_until(self, happened: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait until something happened; a TimeoutError says what Slurm knows of its jobs and nodes."""
        try:
            wait_for(happened, what, seconds)
        except TimeoutError as error:
            log = (self._folder / "slurmctld.log").read_text().splitlines()
            telling = [line for line in log if "_slurm_rpc_update_job" not in line][-40:]
            told = [self._run("scontrol", "show", what) for what in ("job", "node")]
            raise TimeoutError("\n".join([str(error), *telling, *told])) from error

    def _idle_nodes(self) -> int:
        return self._run("sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")
