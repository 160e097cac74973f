"""Starts the workers of a job."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.witness.evidence import Start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.faults import Fault
    from analyzer.trainer.jobs.gpus import GpuShares
    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass(frozen=True)
class Launcher:
    """Starts the workers of one job with the changes that the fault makes."""

    workspace: Workspace
    fault: Fault
    interpreters: Mapping[int, Interpreter]
    communication: str
    gpus: GpuShares

    def start(self, workers: WorkerProcesses, index: int) -> None:
        """Start one worker."""
        workspace, fault = self.workspace, self.fault
        command = [*fault.command(index, [*self.usual_command(index), *fault.arguments(index)])]
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
        """Return a worker's environment; variables that the fault sets to an empty text are unset."""
        config = self.tf_config(index)
        there = {"TF_CONFIG": config} if config is not None else {}
        env = {**self.usual_environment(index), **there, **self.fault.environment(index)}
        return {key: value for key, value in env.items() if value}

    def usual_command(self, index: int) -> list[str]:
        """Return the command of a worker without the fault."""
        python = str(self.interpreters[index].path)
        return [python, "train.py", *_arguments(self.workspace, self.communication)]

    def usual_environment(self, index: int) -> dict[str, str]:
        """Return the environment of a worker without the fault and without TF_CONFIG."""
        return _environment(self.workspace, self.interpreters[index]) | self.gpus.environment(index)

    def usual(self, index: int) -> Start:
        """Return how a worker is started without the fault."""
        command, environment = self.usual_command(index), self.usual_environment(index)
        return Start(command, environment, self.workspace.tf_config(index))

    def tf_config(self, index: int) -> str | None:
        """Return a worker's TF_CONFIG, or None if it has none."""
        return self.fault.tf_config(index, self.workspace.tf_config(index))

    def alone(self, arguments: Sequence[str]) -> None:
        """Run the program without a cluster in the first worker's folder, and wait for it."""
        env = self.environment(0)
        env.pop("TF_CONFIG", None)
        usual = _arguments(self.workspace, self.communication)
        command = [str(self.interpreters[0].path), "train.py", *usual, *arguments]
        subprocess.run(  # noqa: S603 - the trainer's own program
            command, cwd=self.workspace.folder(0), env=env, check=True, capture_output=True, timeout=120
        )


def _arguments(workspace: Workspace, communication: str) -> list[str]:
    scenario = workspace.scenario
    arguments = ["--mode", scenario.mode, "--log-style", scenario.log_style, "--report", scenario.report]
    arguments += ["--epochs", str(scenario.epochs), "--steps", str(scenario.steps)]
    arguments += ["--batch-size", str(scenario.batch_size), "--communication", communication]
    arguments += ["--format", scenario.format, *scenario.program]
    arguments += ["--log-batches"] * scenario.log_batches
    if {"events", "trace"} & set(scenario.hands_over):
        arguments += ["--logdir", "tb"]
    if "trace" in scenario.hands_over:
        arguments += ["--profile", str(scenario.profile)]
    return arguments


def _environment(workspace: Workspace, interpreter: Interpreter) -> dict[str, str]:
    """Return the environment without variables that change the behaviour of TensorFlow, Python or gRPC."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TF_", "PYTHON", "GRPC_")) and not key.lower().endswith("_proxy")
    }
    if workspace.scenario.unbuffered:
        env["PYTHONUNBUFFERED"] = "1"
    if interpreter.needs_legacy_keras:
        env["TF_USE_LEGACY_KERAS"] = "1"
    return env
