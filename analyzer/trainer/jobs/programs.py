"""The programs that workers can run: the trainer's own, or the user's."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from analyzer.model.errors import UserError
from analyzer.trainer.jobs.sandbox.workspace import fill_reference
from analyzer.trainer.path_anonymizer import PathAnonymizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

LARGEST_DIRECTORY = 500_000_000
"""Maximum size of the user's directory in bytes, because each worker gets a copy."""


class ProgramError(UserError):
    """The user's program cannot be run by the trainer."""


class Program(Protocol):
    """Interface of a program that the workers of a job run, each in its own folder."""

    def install(self, folder: Path, scenario: Scenario) -> None:
        """Write the program and its data into the first worker's folder; the others get copies."""

    def command(self, index: int, scenario: Scenario) -> Sequence[str]:
        """Return the command line of a worker."""

    def environment(self, index: int, scenario: Scenario) -> Mapping[str, str]:
        """Return the environment of a worker, without TF_CONFIG."""

    def anonymizer(self, workspace: Workspace) -> PathAnonymizer:
        """Return the anonymizer for paths of this machine in the logs."""


@dataclass(frozen=True)
class ReferenceProgram:
    """The trainer's own program, a load forecast."""

    interpreters: Mapping[int, Interpreter]
    communication: str

    def install(self, folder: Path, scenario: Scenario) -> None:
        """Write the program and generated data into a folder."""
        fill_reference(folder, scenario)

    def command(self, index: int, scenario: Scenario) -> list[str]:
        """Return the command line: the worker's Python, `train.py` and the scenario's options."""
        python = str(self.interpreters[index].path)
        return [python, "train.py", *_arguments(scenario, self.communication)]

    def environment(self, index: int, scenario: Scenario) -> dict[str, str]:
        """Return this process's environment without variables that change TensorFlow, Python or gRPC."""
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("TF_", "PYTHON", "GRPC_")) and not key.lower().endswith("_proxy")
        }
        if scenario.unbuffered:
            env["PYTHONUNBUFFERED"] = "1"
        if self.interpreters[index].needs_legacy_keras:
            env["TF_USE_LEGACY_KERAS"] = "1"
        return env

    def anonymizer(self, workspace: Workspace) -> PathAnonymizer:
        """Return an anonymizer that replaces workers' folders and Pythons by paths of a container."""
        return PathAnonymizer.of(workspace, [*self.interpreters.values()])


@dataclass(frozen=True)
class UserProgram:
    """The user's own program; each worker runs in a copy of its directory."""

    words: tuple[str, ...]
    directory: Path

    def install(self, folder: Path, scenario: Scenario) -> None:  # noqa: ARG002 - the same for all scenarios
        """Copy the user's directory to a worker's folder.

        Raises:
            ProgramError: the directory is too large to be copied for each worker.
        """
        size = sum(path.lstat().st_size for path in self.directory.rglob("*") if not path.is_dir())
        if size > LARGEST_DIRECTORY:
            raise ProgramError(
                f"{self.directory}: {size:,} bytes are too many to copy for each worker; "
                "keep data elsewhere, or give the program's own directory with --directory"
            )
        shutil.copytree(self.directory, folder, symlinks=True)

    def command(self, index: int, scenario: Scenario) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the user's command line."""
        return self.words

    def environment(self, index: int, scenario: Scenario) -> dict[str, str]:  # noqa: ARG002 - all alike
        """Return this process's environment without TF_CONFIG, and with Python's output unbuffered."""
        return {key: value for key, value in os.environ.items() if key != "TF_CONFIG"} | {
            "PYTHONUNBUFFERED": "1"
        }

    def anonymizer(self, workspace: Workspace) -> PathAnonymizer:
        """Return an anonymizer that replaces paths of workers' folders by those of the copied directory."""
        count = workspace.scenario.workers
        return PathAnonymizer({str(workspace.folder(index)): str(self.directory) for index in range(count)})


def _arguments(scenario: Scenario, communication: str) -> list[str]:
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
