"""One job from its start to its end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.processes import Crew
from analyzer.trainer.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.faults import Fault
    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.workspace import Workspace

Tell = Callable[[str], None]
POLL = 0.02


@dataclass(frozen=True)
class Outcome:
    """How each started worker ended, how far it had come, and what was heard in which order."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool
    tf_config: dict[int, str]
    heard: list[tuple[int, bytes]]


@dataclass(frozen=True)
class Launcher:
    """Starts the workers of one job, each with what the fault makes of it."""

    workspace: Workspace
    fault: Fault
    interpreters: Mapping[int, Interpreter]
    communication: str

    def start(self, crew: Crew, index: int) -> None:
        """Start one worker."""
        workspace, fault = self.workspace, self.fault
        command = [str(self.interpreters[index].path), "train.py", *_arguments(workspace, self.communication)]
        command = [*fault.command(index, [*command, *fault.arguments(index)])]
        crew.start(
            index,
            workspace.hosts.command(index, command) if workspace.hosts else command,
            cwd=workspace.folder(index),
            env=self.environment(index),
            out=workspace.log(index, "out"),
            err=workspace.log(index, "err"),
        )
        fault.started(crew.processes[index].pid, index)

    def environment(self, index: int) -> dict[str, str]:
        """Return a worker's environment; what the fault sets to nothing is not set."""
        usual = _environment(self.workspace, self.interpreters[index])
        config = self.tf_config(index)
        there = {"TF_CONFIG": config} if config is not None else {}
        env = {**usual, **there, **self.fault.environment(index)}
        return {key: value for key, value in env.items() if value}

    def tf_config(self, index: int) -> str | None:
        """Return a worker's TF_CONFIG."""
        return self.fault.tf_config(index, self.workspace.tf_config(index))

    def alone(self, arguments: Sequence[str]) -> None:
        """Run the program without a cluster, in the first worker's folder."""
        env = self.environment(0)
        env.pop("TF_CONFIG", None)
        usual = _arguments(self.workspace, self.communication)
        command = [str(self.interpreters[0].path), "train.py", *usual, *arguments]
        subprocess.run(  # noqa: S603 - the trainer's own program
            command, cwd=self.workspace.folder(0), env=env, check=True, capture_output=True, timeout=120
        )


def run_job(
    workspace: Workspace, interpreters: Mapping[int, Interpreter], communication: str, tell: Tell
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
            return _watch(crew, launcher, tell)
    finally:
        fault.cleanup()
        if workspace.hosts:
            workspace.hosts.remove()


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
    """Return the launcher's own environment without what would change how TensorFlow behaves."""
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


def _watch(crew: Crew, launcher: Launcher, tell: Tell) -> Outcome:
    """Follow the logs until all workers have ended, or none has said anything for too long."""
    workspace, fault = launcher.workspace, launcher.fault
    scenario, begun = workspace.scenario, time.monotonic()
    due = {index: begun + fault.delay(index) for index in filter(fault.should_start, range(scenario.workers))}
    logs = {index: Progress(workspace.log(index, "out"), scenario.steps) for index in due}
    extra = {index: Progress(workspace.log(index, "err"), scenario.steps) for index in due}
    configs = {index: config for index in due if (config := launcher.tf_config(index)) is not None}
    heard, stalled, alive = begun, False, list[int]()
    chunks: list[tuple[int, bytes]] = []
    while (due or alive) and not stalled:
        for index in [index for index, moment in due.items() if moment <= time.monotonic()]:
            del due[index]
            launcher.start(crew, index)
        time.sleep(POLL)
        for index in crew.processes:
            log = logs[index]
            if log.read():
                chunks.append((index, log.new))
                heard = time.monotonic()
            if scenario.layout == "folders" and extra[index].read():
                heard = time.monotonic()
            fault.on_step(crew, index, log.step)
        for index in sorted(set(alive) - set(crew.running())):
            tell(f"worker {index} ended with {crew.exit_codes()[index]} at step {logs[index].step}")
        alive = crew.running()
        if scenario.mode == "ps" and not due and 0 not in alive:
            crew.end()  # servers serve for ever: the launcher ends them with the chief
            alive = []
        stalled = bool(alive) and time.monotonic() - heard > scenario.stall_timeout
    if stalled:
        tell(f"nothing said for {scenario.stall_timeout} s: ending the job")
    steps = {index: log.step for index, log in logs.items()}
    return Outcome(dict(sorted(crew.exit_codes().items())), steps, stalled, configs, chunks)
