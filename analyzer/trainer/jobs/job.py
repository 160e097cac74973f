"""Runs one job from start to end."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults import EXTERNAL
from analyzer.trainer.jobs.gpus import GpuShares
from analyzer.trainer.jobs.job_monitor import JobMonitor
from analyzer.trainer.jobs.launcher import Launcher
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.witness.evidence import Evidence, FaultMissedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.layouts import Chunk


@dataclass(frozen=True)
class Outcome:
    """Exit codes and last steps of the started workers, and their output in the order of its arrival."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool
    tf_config: dict[int, str]
    output: list[Chunk]
    left: dict[str, bytes]
    """Files that the fault leaves besides, by name."""
    disks: dict[str, bytes]
    """Output of `df` in each worker's folder, by the worker's name in file names."""
    stacks: dict[str, bytes]
    """Output of `py-spy` for each worker that was running when the job stalled, by the same name."""
    witness: str
    """What showed that the fault struck."""


def run_job(
    workspace: Workspace, program: Program, observer: JobObserver, only: int | None = None
) -> Outcome:
    """Start the workers, let the fault act, and return how the job ended.

    With `only`, one worker is started here and the others elsewhere; the fault is prepared and its witness
    asked where it acts.
    """
    scenario = workspace.scenario
    fault = scenario.make_fault()
    gpus = GpuShares.of(scenario) if only is None else GpuShares()
    launcher = Launcher(workspace, fault, program, gpus)
    try:
        if workspace.hosts:
            workspace.hosts.make()
        fault.before(workspace, launcher.alone)
        if only in {None, scenario.guilty} or scenario.fault["name"] not in EXTERNAL:
            fault.prepare(workspace)
        with WorkerProcesses() as workers:
            usual = {index: launcher.usual(index) for index in range(scenario.workers)}
            monitor = JobMonitor(launcher, observer, Evidence(workspace, workers, usual), only)
            stalled = monitor.run_to_end()
            monitor.read_rest()
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
    witness = _witness(monitor)
    configs = {index: monitor.launcher.tf_config(index) for index in monitor.logs}
    return Outcome(
        exit_codes=dict(sorted(monitor.workers.exit_codes().items())),
        steps={index: log.step for index, log in monitor.logs.items()},
        stalled=stalled,
        tf_config={index: config for index, config in configs.items() if config is not None},
        output=monitor.chunks,
        witness=witness,
        left=dict(monitor.launcher.fault.leaves()),
        disks=_disks(workspace, monitor.logs) if "disks" in wanted else {},
        stacks=_stacks(workspace, alive) if "stacks" in wanted else {},
    )


def _witness(monitor: JobMonitor) -> str:
    """Return the evidence of the fault.

    Raises:
        FaultMissedError: there is none, so that the run proves nothing.

    """
    launcher, scenario = monitor.launcher, monitor.launcher.workspace.scenario
    if monitor.only is not None and (monitor.only != scenario.guilty or not scenario.blames):
        return ""
    try:
        if scenario.expect["cause"] == "healthy":
            monitor.evidence.require_success()
        witness = launcher.fault.witness(monitor.evidence)
    except FaultMissedError as error:
        reason = f"{error}{monitor.evidence.first_failure()}"
        raise FaultMissedError(f"{scenario.name}: refused, for the run proves nothing: {reason}") from error
    monitor.observer.note(f"witness: {witness}")
    return witness


def _stacks(workspace: Workspace, processes: Mapping[int, int]) -> dict[str, bytes]:
    return {workspace.name(index): _stack(pid) for index, pid in processes.items()}


def _stack(process: int) -> bytes:
    """Return the stack of each thread of a process."""
    command = [sysconfig.get_path("scripts") + "/py-spy", "dump", "--pid", str(process)]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603 - our words


def _disks(workspace: Workspace, workers: Iterable[int]) -> dict[str, bytes]:
    return {workspace.name(index): _free_space(workspace.folder(index)) for index in workers}


def _free_space(folder: Path) -> bytes:
    """Return the output of `df` for a worker's folder and its checkpoints, before the fault is cleaned up."""
    command = ["df", "-h", *(place for place in (".", "checkpoints") if (folder / place).is_dir())]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout  # noqa: S603 - our words
