"""Starts the workers of a job with the changes that its fault makes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.gpus.capture import nccl_variables
from analyzer.trainer.jobs.flight_recorder import WITHOUT_GPUS, recorder_command
from analyzer.trainer.witness.evidence import Start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.faults import Fault
    from analyzer.trainer.gpus.shares import GpuShares
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.jobs.sandbox.workspace import Workspace


@dataclass(frozen=True)
class Launcher:
    """Starts workers and computes their command lines and environments, with or without the fault."""

    workspace: Workspace
    fault: Fault
    program: Program
    gpus: GpuShares

    def start(self, workers: WorkerProcesses, index: int) -> None:
        """Start one worker with the fault's changes, and report its process to the fault."""
        workspace, fault = self.workspace, self.fault
        command = [*fault.command(index, [*self.usual_command(index), *fault.arguments(index)])]
        if workspace.recordings:
            without = () if workspace.scenario.needs_gpu else WITHOUT_GPUS
            command = recorder_command(command, workspace.recordings, without)
        workers.start(
            index,
            workspace.hosts.command(index, command) if workspace.hosts else command,
            cwd=workspace.folder(index),
            env=self.environment(index),
            out=workspace.log(index, "out"),
            err=workspace.log(index, "err"),
        )
        fault.started(workers.processes[index].pid, index)

    def environment(self, index: int) -> dict[str, str]:
        """Return a worker's environment with the fault's changes, without variables of empty value."""
        config = self.tf_config(index)
        there = {"TF_CONFIG": config} if config is not None else {}
        env = {**self.usual_environment(index), **there, **self.fault.environment(index)}
        return {key: value for key, value in env.items() if value}

    def usual_command(self, index: int) -> list[str]:
        """Return the command line that a worker has in a job without the fault."""
        return [*self.program.command(index, self.workspace.scenario)]

    def usual_environment(self, index: int) -> dict[str, str]:
        """Return the environment, but for TF_CONFIG, that a worker has in a job without the fault."""
        scenario = self.workspace.scenario
        own = {**self.program.environment(index, scenario), **self.gpus.environment(index)}
        return {**own, **nccl_variables(scenario), **scenario.variables}

    def usual(self, index: int) -> Start:
        """Return command line, environment and TF_CONFIG that a worker has in a job without the fault."""
        command, environment = self.usual_command(index), self.usual_environment(index)
        return Start(command, environment, self.workspace.tf_config(index))

    def tf_config(self, index: int) -> str | None:
        """Return a worker's TF_CONFIG with the fault's changes, or None to leave it unset."""
        return self.fault.tf_config(index, self.workspace.tf_config(index))

    def alone(self, arguments: Sequence[str]) -> None:
        """Run the program without a cluster in the first worker's folder, and wait for it."""
        env = self.environment(0)
        env.pop("TF_CONFIG", None)
        command = [*self.usual_command(0), *arguments]
        subprocess.run(  # noqa: S603 - the trainer's own program
            command, cwd=self.workspace.folder(0), env=env, check=True, capture_output=True, timeout=120
        )
