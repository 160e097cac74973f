"""Runs one training job with its fault, and returns the outcome."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults import EXTERNAL
from analyzer.trainer.gpus.capture import GpuCapture
from analyzer.trainer.gpus.shares import GpuShares, MachineError
from analyzer.trainer.jobs.flight_recorder import recordings
from analyzer.trainer.jobs.job_monitor import JobMonitor
from analyzer.trainer.jobs.launcher import Launcher
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.witness.evidence import Evidence, FaultMissedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.layouts import Chunk

STACK_TOOL = sysconfig.get_path("scripts") + "/py-spy"


@dataclass(frozen=True)
class Outcome:
    """Result of a job: exit codes and last steps by worker index, and the output in order of arrival."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool
    tf_config: dict[int, str]
    output: list[Chunk]
    left: dict[str, bytes]
    """Content of the additional files that the fault leaves, by name."""
    disks: dict[str, bytes]
    """Output of `df` in each worker's folder, by the worker's name in file names."""
    stacks: dict[str, bytes]
    """Output of `py-spy` by worker, for workers that ran when the job stalled; keys as in `disks`."""
    witness: str
    """Proof that the fault took effect; empty if the guilty worker runs elsewhere."""


def run_job(
    workspace: Workspace, program: Program, observer: JobObserver, only: int | None = None
) -> Outcome:
    """Run the workers to their end or stall while the fault acts, and return the outcome.

    With `only`, start just this worker, since others run elsewhere; the fault is then prepared and proven
    only where it acts.

    Raises:
        MachineError: the machine lacks GPUs, or py-spy for the stacks that the scenario hands over.
    """
    scenario = workspace.scenario
    if "stacks" in scenario.hands_over and not Path(STACK_TOOL).exists():
        raise MachineError(f"{scenario.name}: hands over stacks, for which py-spy is missing; it was not run")
    fault = scenario.make_fault()
    gpus = GpuShares.of(scenario) if only is None else GpuShares()
    launcher = Launcher(workspace, fault, program, gpus)
    try:
        if workspace.hosts:
            workspace.hosts.make()
        fault.before(workspace, launcher.alone)
        if only in {None, scenario.guilty} or scenario.fault["name"] not in EXTERNAL:
            fault.prepare(workspace)
        with (
            WorkerProcesses(recorded=scenario.recorder) as workers,
            GpuCapture(scenario, workspace.root) as capture,
        ):
            usual = {index: launcher.usual(index) for index in range(scenario.workers)}
            monitor = JobMonitor(launcher, observer, Evidence(workspace, workers, usual), only)
            stalled = monitor.run_to_end()
            monitor.read_rest()
            capture.require_nccl({index: log.path for index, log in monitor.logs.items()})
            return _outcome(monitor, capture, stalled=stalled)
    finally:
        fault.cleanup()
        if workspace.hosts:
            workspace.hosts.remove()


def _outcome(monitor: JobMonitor, capture: GpuCapture, *, stalled: bool) -> Outcome:
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
        left=_additional_files(monitor, capture),
        disks=_disks(workspace, monitor.logs) if "disks" in wanted else {},
        stacks=_stacks(workspace, alive) if "stacks" in wanted else {},
    )


def _additional_files(monitor: JobMonitor, capture: GpuCapture) -> dict[str, bytes]:
    """Return name → content of additional files; recordings are read before a stalled job is ended."""
    out = monitor.launcher.workspace.recordings
    return recordings(out) if out else {**capture.reports(), **monitor.launcher.fault.leaves()}


def _witness(monitor: JobMonitor) -> str:
    """Return the proof that the fault took effect; empty if the guilty worker runs elsewhere.

    Raises:
        FaultMissedError: there is no proof, so that the run must not be kept.
    """
    launcher, scenario = monitor.launcher, monitor.launcher.workspace.scenario
    if monitor.only is not None and (monitor.only != scenario.guilty or not scenario.blames):
        return ""
    try:
        if scenario.expect["cause"] == "healthy":
            monitor.evidence.require_success()
        if scenario.blames:
            monitor.evidence.require_no_foreign_crash()
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
    command = [STACK_TOOL, "dump", "--pid", str(process)]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603 - our words


def _disks(workspace: Workspace, workers: Iterable[int]) -> dict[str, bytes]:
    return {workspace.name(index): _free_space(workspace.folder(index)) for index in workers}


def _free_space(folder: Path) -> bytes:
    """Return the output of `df` for a worker's folder and its checkpoints, before the fault is cleaned up."""
    command = ["df", "-h", *(place for place in (".", "checkpoints") if (folder / place).is_dir())]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout  # noqa: S603 - our words
