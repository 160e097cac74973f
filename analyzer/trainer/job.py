"""One job from its start to its end."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.launcher import Launcher
from analyzer.trainer.processes import Crew
from analyzer.trainer.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from analyzer.trainer.audience import Audience
    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.workspace import Workspace


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
    workspace: Workspace, interpreters: Mapping[int, Interpreter], communication: str, audience: Audience
) -> Outcome:
    """Start the workers, let the fault act, and wait for the end."""
    fault = workspace.scenario.make_fault()
    launcher = Launcher(workspace, fault, interpreters, communication)
    try:
        if workspace.hosts:
            workspace.hosts.make()
        fault.before(workspace, launcher.alone)
        fault.prepare(workspace)
        with Crew() as crew:
            watch = Watch(crew, launcher, audience)
            stalled = watch.to_the_end()
            return _outcome(watch, stalled=stalled)
    finally:
        fault.cleanup()
        if workspace.hosts:
            workspace.hosts.remove()


def _outcome(watch: Watch, *, stalled: bool) -> Outcome:
    workspace = watch.launcher.workspace
    wanted = workspace.scenario.hands_over
    alive = {index: watch.crew.processes[index].pid for index in watch.crew.running()} if stalled else {}
    configs = {index: watch.launcher.tf_config(index) for index in watch.logs}
    return Outcome(
        exit_codes=dict(sorted(watch.crew.exit_codes().items())),
        steps={index: log.step for index, log in watch.logs.items()},
        stalled=stalled,
        tf_config={index: config for index, config in configs.items() if config is not None},
        heard=watch.chunks,
        left=dict(watch.launcher.fault.leaves()),
        disks=_disks(workspace, watch.logs) if "disks" in wanted else {},
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
