"""Runs one of the bundled workloads: a program with its own data, paths and log style."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from analyzer.trainer.jobs.programs import ProgramError, ReferenceProgram
from analyzer.trainer.path_anonymizer import PathAnonymizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

HOME = Path(__file__).parents[1] / "workloads"
PREPARE_SECONDS = 300


@dataclass(frozen=True)
class Workload:
    """Description of a bundled program, from its `workload.yaml`.

    `prepare` and `command` are arguments of Python, with `{steps}` and other numbers of the scenario.
    """

    home: str
    """Path of the program's folder in recordings."""
    environment: str
    """Path of the virtual environment in recordings."""
    packages: list[str]
    prepare: str
    command: str

    @classmethod
    def load(cls, name: str) -> Workload:
        """Load the description of a workload by the name of its folder."""
        return cls(**yaml.safe_load((HOME / name / "workload.yaml").read_text()))


def workload_names() -> tuple[str, ...]:
    """Return the names of the bundled workloads."""
    return tuple(sorted(path.parent.name for path in HOME.glob("*/workload.yaml")))


@dataclass(frozen=True)
class WorkloadProgram:
    """A bundled workload, run by the interpreters of a reference program."""

    workload: Workload
    reference: ReferenceProgram

    def install(self, folder: Path, scenario: Scenario) -> None:
        """Copy the workload to a folder and let it write its data.

        Raises:
            ProgramError: the data could not be written.
        """
        ignored = shutil.ignore_patterns("__pycache__", "workload.yaml")
        shutil.copytree(HOME / scenario.workload, folder, ignore=ignored)
        words = self._words(self.workload.prepare, 0, scenario)
        done = subprocess.run(  # noqa: S603 - our own words
            words, cwd=folder, env=self.environment(0, scenario), capture_output=True, text=True,
            timeout=PREPARE_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ProgramError(f"{scenario.name}: no data for {scenario.workload}: {done.stderr[-300:]}")

    def command(self, index: int, scenario: Scenario) -> Sequence[str]:
        """Return the command line of a worker."""
        return [*self._words(self.workload.command, index, scenario), *scenario.program]

    def _words(self, text: str, index: int, scenario: Scenario) -> list[str]:
        numbers = {
            "workers": scenario.parts or scenario.workers,
            "epochs": scenario.epochs,
            "steps": scenario.steps,
            "total": scenario.epochs * scenario.steps,
            "batch_size": scenario.batch_size,
            "samples": (scenario.steps + 2) * scenario.batch_size,
        }
        return [str(self.reference.interpreters[index].path), *text.format(**numbers).split()]

    def environment(self, index: int, scenario: Scenario) -> Mapping[str, str]:
        """Return the environment of a worker, without TF_CONFIG."""
        return self.reference.environment(index, scenario)

    def anonymizer(self, workspace: Workspace) -> PathAnonymizer:
        """Return an anonymizer that replaces paths of this machine by those in `workload.yaml`."""
        interpreters = [*self.reference.interpreters.values()]
        return PathAnonymizer.of(workspace, interpreters, self.workload.home, self.workload.environment)


def program_of(scenario: Scenario, interpreters: Mapping[int, Interpreter], communication: str) -> Program:
    """Return the program of a scenario: its workload, or the load forecast if it names none.

    Raises:
        InterpreterError: an interpreter lacks a package that the workload needs.
    """
    reference = ReferenceProgram(interpreters, communication)
    if not scenario.workload:
        return reference
    workload = Workload.load(scenario.workload)
    for interpreter in interpreters.values():
        interpreter.require(*workload.packages)
    return WorkloadProgram(workload, reference)
