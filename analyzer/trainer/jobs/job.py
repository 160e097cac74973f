"""One job from its start to its end."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.jobs.job_monitor import JobMonitor
from analyzer.trainer.jobs.launcher import Launcher
from analyzer.trainer.jobs.processes import WorkerProcesses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass(frozen=True)
class Outcome:
    """How each started worker ended, how far it had come, and what was heard in which order."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool
    tf_config: dict[int, str]
    heard: list[tuple[int, bytes]]
    left: dict[str, bytes]
    """What the system wrote besides, by the name of the file."""
    disks: dict[str, bytes]
    """What df says where each worker writes, by the worker's name in files."""
    stacks: dict[str, bytes]
    """What py-spy says of each worker that was still there when the job stood still, by the same name."""


def run_job(
    workspace: Workspace,
    interpreters: Mapping[int, Interpreter],
    communication: str,
    observer: JobObserver,
) -> Outcome:
    """Start the workers, let the fault act, and wait for the end."""
    fault = workspace.scenario.make_fault()
    launcher = Launcher(workspace, fault, interpreters, communication)
    try:
        if workspace.hosts:
            workspace.hosts.make()
        fault.before(workspace, launcher.alone)
        fault.prepare(workspace)
        with WorkerProcesses() as workers:
            monitor = JobMonitor(workers, launcher, observer)
            stalled = monitor.run_to_end()
            return _outcome(monitor, stalled=stalled)
    finally:
        fault.cleanup()
        if workspace.hosts:
            workspace.hosts.remove()


def _outcome(monitor: JobMonitor, *, stalled: bool) -> Outcome:
    workspace = monitor.launcher.workspace
    wanted = workspace.scenario.hands_over
    alive = (
        {index: monitor.workers.processes[index].pid for index in monitor.workers.running()}
        if stalled
        else {}
    )
    configs = {index: monitor.launcher.tf_config(index) for index in monitor.logs}
    return Outcome(
        exit_codes=dict(sorted(monitor.workers.exit_codes().items())),
        steps={index: log.step for index, log in monitor.logs.items()},
        stalled=stalled,
        tf_config={index: config for index, config in configs.items() if config is not None},
        heard=monitor.chunks,
        left=dict(monitor.launcher.fault.leaves()),
        disks=_disks(workspace, monitor.logs) if "disks" in wanted else {},
        stacks=_stacks(workspace, alive) if "stacks" in wanted else {},
    )


def _stacks(workspace: Workspace, processes: Mapping[int, int]) -> dict[str, bytes]:
    return {workspace.name(index): _stack(pid) for index, pid in processes.items()}


def _stack(process: int) -> bytes:
    """Where each thread of a process stands."""
    command = [sysconfig.get_path("scripts") + "/py-spy", "dump", "--pid", str(process)]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603 - our words


def _disks(workspace: Workspace, workers: Iterable[int]) -> dict[str, bytes]:
    return {workspace.name(index): _free_space(workspace.folder(index)) for index in workers}


def _free_space(folder: Path) -> bytes:
    """What df prints of a worker's folder and its checkpoints; what the fault mounted is still there."""
    command = ["df", "-h", *(place for place in (".", "checkpoints") if (folder / place).is_dir())]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout  # noqa: S603 - our words
