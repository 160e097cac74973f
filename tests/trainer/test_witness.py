"""A fault that does no harm is refused by its witness, for every kind of fault; one that strikes is not.

The workers are small programs: no TensorFlow is needed to see whether a fault struck.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from analyzer.trainer import faults
from analyzer.trainer.faults import FAULTS, Fault
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.jobs.sandbox.hosts import Hosts, HostsError
from analyzer.trainer.jobs.sandbox.workspace import Workspace
from analyzer.trainer.scenario import Scenario
from analyzer.trainer.witness.evidence import Evidence, FaultMissedError, Start

pytestmark = pytest.mark.processes

READY = "import pathlib, sys, time; pathlib.Path('ready').touch(); "
WAIT = READY + "time.sleep(60)"
FAIL = READY + "time.sleep(0.3); sys.exit(1)"
END = READY + "sys.exit(0)"
READ = READY + "f = open('data/part-00001.csv'); f.read(); time.sleep(60)"
READ_AND_FAIL = READY + "f = open('data/part-00001.csv'); f.read(); time.sleep(0.3); sys.exit(1)"
READ_SCHEDULE = "open('config/schedule.csv').read(); " + READ_AND_FAIL
LOCK = READY + "import fcntl; fcntl.flock(open('statistics/.lock', 'w'), fcntl.LOCK_EX); time.sleep(60)"
LOCK_OFTEN = (
    READY
    + "import fcntl\nf = open('statistics/.lock', 'w')\n"
    + "while True: fcntl.flock(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_UN); time.sleep(0.01)"
)
CATCH = "import signal; signal.signal(signal.SIGTERM, print); " + WAIT
LOAD_DRIVER = (
    READY
    + "import contextlib, ctypes\nwith contextlib.suppress(OSError): ctypes.CDLL('libcuda.so.1')\n"
    + "time.sleep(60)"
)
EDIT = {"path": "data/part-00001.csv", "old": ",", "new": ";"}
LISTENING = ExitStack()


@dataclass
class Trial:
    """One fault on two workers that run a program, or none; worker 1 is guilty."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    program: str = WAIT
    step: int = 2
    steps_seen: int = 6
    """The last step that the guilty worker's log shows."""
    seconds: float = 0.5
    hosts: bool = False
    before: Callable[[Workspace], None] = lambda _: None
    """Changes the workspace before the fault acts."""
    during: Callable[[Workspace], None] = lambda _: None
    """Acts while the workers run."""
    ended: bool = False
    """The workers have ended when the fault acts."""

    def run(self, folder: Path) -> str:
        """Let the fault act as a job does, and ask its witness."""
        workspace = Workspace.create(folder, self.scenario(folder))
        if workspace.hosts:
            workspace.hosts.make()
        fault = FAULTS[self.kind](guilty=1, step=self.step, **self.parameters)
        try:
            self.before(workspace)
            fault.before(workspace, lambda _: None)
            fault.prepare(workspace)
            with WorkerProcesses(grace=0.2) as workers:
                evidence = self.start(workspace, fault, workers)
                self.watch(workspace, fault, evidence)
                return fault.witness(evidence)
        finally:
            fault.cleanup()
            LISTENING.close()
            if workspace.hosts:
                workspace.hosts.remove()

    def scenario(self, folder: Path) -> Scenario:
        """Return that of a small job of two."""
        return Scenario(
            "one", folder, "", 2, "custom", ("logs",), {"cause": "peer.killed", "culprits": []},
            guilty=1, step=self.step, epochs=1, steps=6, batch_size=8, hosts=self.hosts,
        )  # fmt: skip

    def start(self, workspace: Workspace, fault: Any, workers: WorkerProcesses) -> Evidence:
        """Start the workers as the launcher does."""
        command = (sys.executable, "-c", self.program, "--batch-size", "8")
        starts = {index: Start(command, dict(os.environ), workspace.tf_config(index)) for index in range(2)}
        evidence = Evidence(workspace, workers, starts)
        for index in filter(fault.should_start, range(2)):
            time.sleep(fault.delay(index))
            config = fault.tf_config(index, workspace.tf_config(index))
            devices = {"CUDA_VISIBLE_DEVICES": f"GPU-{index}"}
            env = {
                **os.environ,
                **devices,
                **({"TF_CONFIG": config} if config else {}),
                **fault.environment(index),
            }
            words = fault.command(index, [*command, *fault.arguments(index)])
            own = workspace.hosts.command(index, words) if workspace.hosts else words
            log = workspace.log(index, "out")
            workers.start(index, own, workspace.folder(index), {k: v for k, v in env.items() if v}, log, log)
            fault.started(workers.processes[index].pid, index)
            evidence.observe()
        return evidence

    def watch(self, workspace: Workspace, fault: Any, evidence: Evidence) -> None:
        """Show the fault the steps, and let it look at the processes for a while."""
        workers = evidence.workers
        for index in workers.processes:
            while (
                not (workspace.folder(index) / "ready").exists() and workers.processes[index].poll() is None
            ):
                time.sleep(0.01)
        while self.ended and workers.running():
            time.sleep(0.01)
        self.during(workspace)
        until = time.monotonic() + self.seconds
        while time.monotonic() < until or fault.is_busy():
            evidence.observe()
            fault.observe(workers)
            for index in [*workers.processes]:
                fault.on_step(workers, index, self.steps_seen)
            time.sleep(0.01)


def answer_for_the_guilty(workspace: Workspace) -> None:
    """Listen where the guilty worker would."""
    listen(workspace.addresses[1])


def answer_at_the_wrong_address(workspace: Workspace) -> None:
    """Listen where the guilty worker looks for its peer."""
    host, port = workspace.addresses[0].rsplit(":", 1)
    listen(f"{host}:{int(port) - 1}")


def listen(address: str) -> None:
    """Accept connections until the test ends."""
    host, port = address.rsplit(":", 1)
    LISTENING.enter_context(socket.create_server((host, int(port))))


def earlier_checkpoint(workspace: Workspace) -> None:
    """Make the checkpoint that an earlier job left."""
    made = workspace.folder(0) / "checkpoints"
    made.mkdir()
    (made / "step-00004.index").write_text("index")
    (made / "step-00004.data-00000-of-00001").write_text("data" * 9)


def new_events(workspace: Workspace) -> None:
    """Let this job write an event file."""
    (workspace.folder(0) / "tb").mkdir()
    (workspace.folder(0) / "tb/events.out.tfevents.1").touch()


def own_folder(workspace: Workspace) -> None:
    """Write a file where each worker's checkpoints are its own."""
    for index in range(2):
        (workspace.folder(index) / "checkpoints").unlink()
        (workspace.folder(index) / "checkpoints").mkdir()


def put_module_back(workspace: Workspace) -> None:
    """Let somebody install the module after all."""
    (workspace.folder(1) / "windowing.py").touch()


def zero_schedule(workspace: Workspace) -> None:
    """Let the schedule have the rate already."""
    for index in range(2):
        (workspace.folder(index) / "config/schedule.csv").write_text(
            "".join(f"{n},0.5\n" for n in range(1, 7))
        )


HARMLESS = {
    "arguments": Trial("arguments", {"add": ["--batch-size", "8"]}),
    "bad_value": Trial("bad_value", {"value": "nan"}),
    "broken_library": Trial("broken_library"),
    "busy_lock": Trial("busy_lock", {"seconds": 0.1}),
    "busy_machine": Trial("busy_machine", {"processes": 0}),
    "catalogue_service": Trial("catalogue_service", {"answer": "forbidden"}),
    "clock_limit": Trial("clock_limit"),
    "come_back_later": Trial("come_back_later"),
    "damaged_schedule": Trial("damaged_schedule", program=READ_AND_FAIL),
    "data_file": Trial("data_file", {"happened": "shortened"}),
    "delay": Trial("delay", hosts=True),
    "edit_file": Trial("edit_file", {"path": "train.py", "old": "never there", "new": "it"}),
    "environment": Trial("environment", {"set": {"PATH": os.environ["PATH"]}}),
    "feed": Trial("feed"),
    "gpu_hang": Trial("gpu_hang", {"add": ["--batch-size", "4"]}),
    "gpu_memory": Trial("gpu_memory", {"add": ["--batch-size", "4"]}, FAIL),
    "hold_lock": Trial("hold_lock"),
    "hold_port": Trial("hold_port", program=END),
    "kernel_lines": Trial("kernel_lines", {"lines": ["Xid"]}, END, ended=True),
    "late_start": Trial("late_start", {"seconds": 0}),
    "learning_rate": Trial("learning_rate", {"rate": 0.5}, READ_SCHEDULE, before=zero_schedule),
    "limit": Trial("limit", {"of": "files", "more": 1000}),
    "memory_group": Trial("memory_group"),
    "missing_module": Trial("missing_module", program=FAIL, during=put_module_back),
    "network_rule": Trial("network_rule", {"rule": "partition"}, hosts=True),
    "never_start": Trial("never_start", during=answer_for_the_guilty),
    "none": Trial("none", program=END, ended=True),
    "old_checkpoint": Trial("old_checkpoint", {"cut": True}, FAIL, before=earlier_checkpoint),
    "owner": Trial("owner", program=END),
    "peer_list": Trial("peer_list", during=answer_at_the_wrong_address),
    "pin": Trial("pin", {"processes": 0}),
    "request_stop": Trial("request_stop", program=END, ended=True),
    "restart": Trial("restart", program=END, ended=True),
    "send_signal": Trial("send_signal", {"signal": "KILL"}, END, ended=True),
    "send_signal TERM": Trial("send_signal", {"signal": "TERM", "deadly": True}, CATCH),
    "shared_memory": Trial("shared_memory"),
    "shared_folder": Trial("shared_folder", during=own_folder),
    "slurm": Trial("slurm", {"change": {"SLURM_PROCID": "1"}}),
    "small_disk": Trial("small_disk", {"kilobytes": 1000}),
    "stale_events": Trial("stale_events", during=new_events),
    "supervised": Trial("supervised", program=END, ended=True),
    "tf_config": Trial("tf_config", {"change": "loopback"}),
    "throttle": Trial("throttle", {"share": 1.0}),
    "time_limit": Trial("time_limit", {"seconds": 60}, END),
    "unsharded": Trial("unsharded", program=READ),
    "wrong_checkpoint": Trial("wrong_checkpoint", {"found": "none"}, END, ended=True),
}
"""For each kind, a fault that changes nothing or comes too late."""

STRIKES = {
    "arguments": Trial("arguments", {"add": ["--batch-size", "4"]}),
    "bad_value": Trial("bad_value", {"value": "nan"}, READ),
    "broken_library": Trial("broken_library", program=LOAD_DRIVER),
    "busy_lock": Trial("busy_lock", {"seconds": 0.1}, LOCK_OFTEN, seconds=1.5),
    "busy_machine": Trial("busy_machine", {"processes": 1}, seconds=2),
    "damaged_schedule": Trial("damaged_schedule", program=READ_SCHEDULE, seconds=1),
    "data_file": Trial("data_file", {"happened": "lost"}, FAIL, seconds=1),
    "data_file shortened": Trial("data_file", {"happened": "shortened"}, READ),
    "edit_file": Trial("edit_file", EDIT, READ_AND_FAIL, seconds=1),
    "edit_file a line": Trial("edit_file", {**EDIT, "line": 3, "old": "", "fails": False}, READ),
    "environment": Trial("environment", {"set": {"FAR": "away"}}),
    "feed": Trial("feed", program=READ, seconds=1),
    "hold_lock": Trial("hold_lock", program=LOCK),
    "hold_port": Trial("hold_port", program=FAIL, seconds=1),
    "kernel_lines": Trial("kernel_lines", {"lines": ["Xid (PCI:{bus}): 79, pid={pid}"]}),
    "late_start": Trial("late_start", {"seconds": 0.4}),
    "learning_rate": Trial("learning_rate", {"rate": 9.0}, READ_SCHEDULE, seconds=1),
    "missing_module": Trial("missing_module", program=FAIL, seconds=1),
    "never_start": Trial("never_start"),
    "none": Trial("none", program=FAIL, seconds=1),
    "peer_list": Trial("peer_list"),
    "pin": Trial("pin", {"processes": 1}, seconds=2),
    "restart": Trial("restart", {"after": 0.1}, seconds=1),
    "send_signal KILL": Trial("send_signal", {"signal": "KILL"}),
    "send_signal STOP": Trial("send_signal", {"signal": "STOP"}),
    "shared_memory": Trial("shared_memory", program=FAIL, seconds=1),
    "slurm": Trial("slurm", {"change": {"SLURM_PROCID": ""}}),
    "supervised": Trial("supervised", {"after": 0.1}, seconds=1),
    "tf_config": Trial("tf_config", {"change": "absent"}),
    "throttle": Trial("throttle", {"share": 0.3}, seconds=1),
    "time_limit": Trial("time_limit", {"seconds": 1}, seconds=2),
}
"""Faults that strike; root and networks are needed for the others."""


@pytest.fixture
def possible(request: pytest.FixtureRequest) -> None:
    """Skip a kind that this machine does not let us have."""
    kind = request.node.callspec.params["kind"].split()[0]
    if kind in {"memory_group", "owner", "shared_memory", "small_disk"} and os.geteuid():
        pytest.skip("needs root")
    if kind in {"delay", "network_rule"} and not networks_can_be_made():
        pytest.skip("no network namespaces or no iptables here")


def networks_can_be_made() -> bool:
    """Whether there are network namespaces and firewall rules."""
    hosts = Hosts(1)
    try:
        hosts.make()
        hosts.run(0, "iptables -L -n")
    except HostsError:
        return False
    finally:
        hosts.remove()
    return True


def test_every_kind_has_a_harmless_fault() -> None:
    """Whoever adds a kind of fault adds its trial."""
    assert {name.split()[0] for name in HARMLESS} == FAULTS.keys()
    assert all(trial.kind == name.split()[0] for name, trial in HARMLESS.items())


def test_no_kind_is_forgotten() -> None:
    """Each module of faults has its kinds in the list that scenarios can name, with a witness of their own."""
    found = {Fault}
    for module in pkgutil.iter_modules(faults.__path__, f"{faults.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Fault):
                found.add(value)
    assert found == {*FAULTS.values()}
    assert [kind for kind in found - {Fault} if kind.witness is Fault.witness] == []


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("kind", sorted(HARMLESS))
def test_a_harmless_fault_is_refused(kind: str, tmp_path: Path) -> None:
    """Its witness has seen nothing."""
    with pytest.raises(FaultMissedError):
        HARMLESS[kind].run(tmp_path)


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("kind", sorted(STRIKES))
def test_a_fault_that_strikes_has_a_witness(kind: str, tmp_path: Path) -> None:
    """And says what it saw."""
    assert STRIKES[kind].run(tmp_path)
