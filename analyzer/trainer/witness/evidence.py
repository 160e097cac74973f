"""What was observed of the workers' processes, and how a run without a fault is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from signal import Signals
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.witness import proc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.jobs.processes import Life, WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace

SAME_TIME = 5.0
"""Seconds within which workers end in any order when one of them fails."""


class FaultMissedError(UserError):
    """The fault did not strike, or something else struck first; the run proves nothing."""


def require(condition: object, reason: str) -> None:
    """Raise FaultMissedError with the reason unless the condition holds."""
    if not condition:
        raise FaultMissedError(reason)


@dataclass(frozen=True)
class Start:
    """How a worker would have been started without the fault."""

    command: Sequence[str]
    environment: Mapping[str, str]
    tf_config: str | None


@dataclass
class Evidence:
    """The workers' processes, how they were to be started, and what `/proc` showed of them."""

    workspace: Workspace
    workers: WorkerProcesses
    usual: dict[int, Start] = field(default_factory=dict)
    commands: dict[int, tuple[str, ...]] = field(default_factory=dict)
    environments: dict[int, dict[str, str]] = field(default_factory=dict)
    programs: dict[int, str] = field(default_factory=dict)

    def observe(self) -> None:
        """Look at the processes that were started a short while ago."""
        for life in self.workers.alive():
            if life.is_young() and (command := proc.command_line(life.pid)):
                self.commands[life.index] = command
                self.environments[life.index] = proc.environment(life.pid)
                self.programs[life.index] = proc.program(life.pid)

    def life(self, index: int) -> Life:
        """Return the last life of a worker.

        Raises:
            FaultMissedError: it was never started.

        """
        lives = [life for life in self.workers.lives if life.index == index]
        require(lives, f"worker {index} was never started")
        return lives[-1]

    def options(self, index: int) -> dict[str, str]:
        """Return the options of a worker's command line; the last of equal ones counts."""
        return _options(self.commands.get(index, ()))

    def usual_options(self, index: int) -> dict[str, str]:
        """Return the options that it would have had without the fault."""
        return _options(self.usual[index].command)

    def tf_config(self, index: int) -> str | None:
        """Return the TF_CONFIG that a worker really had."""
        return self.environments.get(index, {}).get("TF_CONFIG")

    def require_changed_options(self, indices: Sequence[int]) -> str:
        """Require that the kernel shows another command line of these workers than the usual one.

        Raises:
            FaultMissedError: a command line is the usual one.

        """
        for index in indices:
            self.life(index)
            require(self.commands.get(index), f"worker {index} ended before its command line was seen")
            require(
                self.options(index) != self.usual_options(index),
                f"the arguments of worker {index} mean the same as without the fault",
            )
        return f"command line of worker {_listed(indices)} in /proc"

    def require_ended_badly(self, index: int) -> str:
        """Require that a worker ended with an error, and that no other did so much earlier.

        Raises:
            FaultMissedError: it did not, or somebody else was first.

        """
        life = self.life(index)
        require(life.code is not None, f"worker {index} was still running at the end")
        require(life.code != 0, f"worker {index} ended with 0")
        self.require_nobody_ended_badly(before=life.ended - SAME_TIME, but=index)
        return f"worker {index} ended with {life.code}"

    def require_nobody_ended_badly(self, before: float, but: int) -> None:
        """Require that no other worker ended with an error before a moment (monotonic).

        Raises:
            FaultMissedError: one did.

        """
        for life in self.workers.lives:
            first = life.index != but and life.code not in {None, 0} and life.ended < before
            require(not first, f"worker {life.index} ended with {life.code} first")

    def first_failure(self) -> str:
        """Return which worker ended with an error first, for the reason of a refusal; empty if none did."""
        failed = sorted((life for life in self.workers.lives if life.code), key=lambda life: life.ended)
        return f" (the first to fail was worker {failed[0].index}, with {failed[0].code})" if failed else ""

    def require_restarted(self, index: int) -> int:
        """Require that a worker ended by SIGKILL and was started again; return how many times.

        Raises:
            FaultMissedError: it ended otherwise, or for good.

        """
        first, *later = [life for life in self.workers.lives if life.index == index]
        require(first.code == -Signals.SIGKILL, f"worker {index} ended with {first.code}, not by SIGKILL")
        require(later, f"worker {index} was not started again")
        return len(later)

    def require_success(self) -> None:
        """Require that all workers ended with 0; of a job with parameter servers, that the chief did.

        Raises:
            FaultMissedError: one failed, or was still running.

        """
        scenario = self.workspace.scenario
        last = [self.life(index) for index in ([0] if scenario.mode == "ps" else range(scenario.workers))]
        for life in sorted(last, key=lambda life: life.ended or math.inf):
            require(
                life.code is not None, f"worker {life.index} was still running at the end of a healthy job"
            )
            require(life.code == 0, f"worker {life.index} of a healthy job ended with {life.code}")


def _options(command: Sequence[str]) -> dict[str, str]:
    """Return `--option value` pairs; an option without a value has an empty one."""
    found, name = {}, ""
    for word in command:
        if word.startswith("--"):
            name = word
            found[name] = ""
        elif name:
            found[name] = f"{found[name]} {word}".strip()
    return found


def _listed(indices: Sequence[int]) -> str:
    return ", ".join(map(str, indices))
