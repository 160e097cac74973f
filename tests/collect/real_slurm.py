"""A real Slurm of one node on this machine: MariaDB, slurmdbd, slurmctld, slurmd, without Munge; needs root."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from analyzer.trainer.free_ports import free_ports

DAEMONS = ("mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacct", "scontrol")
_DATABASE = """\
AuthType=auth/none
DbdHost=localhost
DbdPort={dbd}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct
"""
_CONTROLLER = """\
ClusterName=recorded
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=500 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """The daemons, started one after the other; `environment` leads the commands to them."""

    def __init__(self, folder: Path, nodes: int = 1) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        drawn = free_ports(3 + nodes)  # at once: a second draw may return a port of the first
        self._node_ports = drawn[3:]
        ports = dict(zip(("sql", "dbd", "control", "node"), drawn, strict=False))
        host = socket.gethostname().partition(".")[0]
        self._ports = ports
        values = {"folder": folder, "host": host, "cpus": os.cpu_count(), **ports}
        for name in ("state", "spool", "sql"):
            (folder / name).mkdir()
        self._write("slurmdbd.conf", _DATABASE.format(**values))
        self._write("slurm.conf", _CONTROLLER.format(**values))
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Start all daemons, and wait until the node is idle.

        Raises:
            TimeoutError: one of them does not come up.
        """
        self._start_database()
        self._daemon("slurmdbd", "-D")
        wait_for(lambda: _listens(self._ports["dbd"]), "slurmdbd")
        self._run("sacctmgr", "--immediate", "add", "cluster", "recorded")
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D")
        wait_for(lambda: "idle" in self._run("sinfo", "--noheader", "--format=%T"), "an idle node")

    def stop(self) -> None:
        """End the daemons, the last one first."""
        for process in reversed(self._running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def run_job(self, script: Path, folder: Path) -> str:
        """Run a batch script in a folder; return the job's id once accounting has its end and its directory."""
        job = self._run("sbatch", "--parsable", f"--chdir={folder}", str(script)).strip()
        asked = (
            "sacct",
            f"--jobs={job}",
            "--allocations",
            "--noheader",
            "--parsable2",
            "--format=State,WorkDir",
        )
        ended = re.compile(
            rf"(COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY)\b[^|]*\|{re.escape(str(folder))}\n"
        )
        wait_for(lambda: bool(ended.fullmatch(self._run(*asked))), f"the end of job {job}")
        return job

    def _start_database(self) -> None:
        data, port = self._folder / "sql", self._ports["sql"]
        self._run("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db")
        self._daemon(
            "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--port={port}",
            "--bind-address=127.0.0.1", f"--socket={data}/s", f"--pid-file={data}/pid", "--skip-grant-tables",
            "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M",
        )  # fmt: skip
        wait_for(lambda: _listens(port), "mariadbd")

    def _write(self, name: str, text: str) -> Path:
        path = self._folder / name
        path.touch(0o600)
        path.write_text(text)
        return path

    def _daemon(self, *arguments: str) -> None:
        with (self._folder / f"{arguments[0]}.out").open("wb") as log:
            started = subprocess.Popen(
                arguments, env=self.environment, stdout=log, stderr=log, cwd=self._folder
            )
        self._running.append(started)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            arguments, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout


def wait_for(happened: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait until something happened; raise TimeoutError if it does not within `seconds`."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(f"Slurm: no {what} within {seconds:g} s")
        time.sleep(0.2)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
