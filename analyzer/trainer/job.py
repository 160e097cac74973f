"""One job from its start to its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.processes import Crew
from analyzer.trainer.progress import Progress

if TYPE_CHECKING:
    from analyzer.trainer.faults import Fault
    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.workspace import Workspace

Tell = Callable[[str], None]
POLL = 0.02


@dataclass(frozen=True)
class Outcome:
    """How each started worker ended, and how far it had come."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool


def run_job(workspace: Workspace, interpreter: Interpreter, communication: str, tell: Tell) -> Outcome:
    """Start the workers, let the fault act, and wait for the end."""
    fault = workspace.scenario.make_fault()
    try:
        fault.prepare(workspace)
        with Crew() as crew:
            _start(crew, fault, workspace, interpreter, communication)
            return _watch(crew, fault, workspace, tell)
    finally:
        fault.cleanup()


def _start(
    crew: Crew, fault: Fault, workspace: Workspace, interpreter: Interpreter, communication: str
) -> None:
    for index in filter(fault.should_start, range(workspace.scenario.workers)):
        command = [str(interpreter.path), "train.py", *_arguments(workspace, communication)]
        crew.start(
            index,
            [*command, *fault.arguments(index)],
            cwd=workspace.folder(index),
            env={**_environment(workspace, interpreter, index), **fault.environment(index)},
            out=workspace.log(index, "out"),
            err=workspace.log(index, "err"),
        )


def _arguments(workspace: Workspace, communication: str) -> list[str]:
    scenario = workspace.scenario
    arguments = ["--mode", scenario.mode, "--log-style", scenario.log_style, "--report", scenario.report]
    arguments += ["--epochs", str(scenario.epochs), "--steps", str(scenario.steps)]
    arguments += ["--batch-size", str(scenario.batch_size), "--communication", communication]
    arguments += ["--log-batches"] * scenario.log_batches
    if {"events", "trace"} & set(scenario.hands_over):
        arguments += ["--logdir", "tb"]
    if "trace" in scenario.hands_over:
        arguments += ["--profile", str(scenario.profile)]
    return arguments


def _environment(workspace: Workspace, interpreter: Interpreter, index: int) -> dict[str, str]:
    """Return the launcher's own environment without what would change how TensorFlow behaves."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TF_", "PYTHON", "GRPC_")) and not key.lower().endswith("_proxy")
    }
    env["TF_CONFIG"] = workspace.tf_config(index)
    if workspace.scenario.unbuffered:
        env["PYTHONUNBUFFERED"] = "1"
    if interpreter.needs_legacy_keras:
        env["TF_USE_LEGACY_KERAS"] = "1"
    return env


def _watch(crew: Crew, fault: Fault, workspace: Workspace, tell: Tell) -> Outcome:
    """Follow the logs until all workers have ended, or none has said anything for too long."""
    scenario, alive = workspace.scenario, crew.running()
    logs = {index: Progress(workspace.log(index, "out"), scenario.steps) for index in alive}
    extra = {index: Progress(workspace.log(index, "err"), scenario.steps) for index in alive}
    heard, stalled = time.monotonic(), False
    while alive and not stalled:
        time.sleep(POLL)
        for index, log in logs.items():
            if log.read() | extra[index].read():
                heard = time.monotonic()
            fault.on_step(crew, index, log.step)
        for index in sorted(set(alive) - set(crew.running())):
            tell(f"worker {index} ended with {crew.exit_codes()[index]} at step {logs[index].step}")
        alive = crew.running()
        stalled = bool(alive) and time.monotonic() - heard > scenario.stall_timeout
    if stalled:
        tell(f"nothing said for {scenario.stall_timeout} s: ending the job")
    return Outcome(crew.exit_codes(), {index: log.step for index, log in logs.items()}, stalled)
