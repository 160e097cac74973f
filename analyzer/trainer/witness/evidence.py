"""Collects what `/proc` and exit codes show of the workers' processes, and checks it."""

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
    from analyzer.trainer.jobs.sandbox.workspace import Workspace

SAME_TIME = 5.0
"""Seconds within which the order of failures proves nothing, since one failure ends the others."""


class FaultMissedError(UserError):
    """The fault took no effect, or another failure came first; the run must not be kept."""


_CRASHES = frozenset({Signals.SIGSEGV, Signals.SIGBUS, Signals.SIGILL, Signals.SIGFPE})
"""Signals of defects in native code, as in TensorFlow's profiler."""


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
    """The workers' processes, how they would start without the fault, and what `/proc` showed of them."""

    workspace: Workspace
    workers: WorkerProcesses
    usual: dict[int, Start] = field(default_factory=dict)
    commands: dict[int, tuple[str, ...]] = field(default_factory=dict)
    environments: dict[int, dict[str, str]] = field(default_factory=dict)
    programs: dict[int, str] = field(default_factory=dict)

    def observe(self) -> None:
        """Record command line, environment and executable of the processes started in the last seconds."""
        for life in self.workers.alive():
            if life.is_young() and (command := proc.command_line(life.pid)):
                self.commands[life.index] = command
                self.environments[life.index] = proc.environment(life.pid)
                self.programs[life.index] = proc.program(life.pid)

    def life(self, index: int) -> Life:
        """Return the last process of a worker.

        Raises:
            FaultMissedError: the worker was never started.
        """
        lives = [life for life in self.workers.lives if life.index == index]
        require(lives, f"worker {index} was never started")
        return lives[-1]

    def options(self, index: int) -> dict[str, str]:
        """Return the options on a worker's command line by name; of repeated ones, the last."""
        return _options(self.commands.get(index, ()))

    def usual_options(self, index: int) -> dict[str, str]:
        """Return the options that a worker would have had without the fault, by name."""
        return _options(self.usual[index].command)

    def tf_config(self, index: int) -> str | None:
        """Return the TF_CONFIG in a worker's environment as `/proc` shows it, or None."""
        return self.environments.get(index, {}).get("TF_CONFIG")

    def require_changed_options(self, indices: Sequence[int]) -> str:
        """Return proof from `/proc` that the options of these workers differ from those without the fault.

        Raises:
            FaultMissedError: the options of a worker do not differ, or were not seen.
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
        """Return proof that a worker failed, and that no other failed more than 5 s before it.

        Raises:
            FaultMissedError: the worker did not fail, or another one failed first.
        """
        life = self.life(index)
        require(life.code is not None, f"worker {index} was still running at the end")
        require(life.code != 0, f"worker {index} ended with 0")
        self.require_nobody_ended_badly(before=life.ended - SAME_TIME, but=index)
        return f"worker {index} ended with {life.code}"

    def require_raised(self, index: int) -> str:
        """Return proof that an exception ended a worker, and that no other failed more than 5 s before it.

        SIGABRT is allowed: TensorFlow's coordination agent may abort a process that ends by an exception.

        Raises:
            FaultMissedError: the worker did not fail, it crashed, or another one failed first.
        """
        proof = self.require_ended_badly(index)
        code = self.life(index).code or 0
        require(-code not in _CRASHES, f"worker {index} crashed by itself, with {code}")
        return proof

    def require_nobody_ended_badly(self, before: float, but: int) -> None:
        """Check that no worker except `but` failed before a monotonic time; -1 exempts none.

        Raises:
            FaultMissedError: another worker failed before.
        """
        for life in self.workers.lives:
            first = life.index != but and life.code not in {None, 0} and life.ended < before
            require(not first, f"worker {life.index} ended with {life.code} first")

    def require_no_foreign_crash(self) -> None:
        """Check that no innocent worker crashed by itself, as in TensorFlow's profiler.

        SIGABRT counts in slow jobs only, because TensorFlow's coordination agent aborts after a peer's end.

        Raises:
            FaultMissedError: one did.
        """
        scenario = self.workspace.scenario
        crashes = {*_CRASHES}
        if scenario.expect["cause"].startswith("perf."):
            crashes.add(Signals.SIGABRT)
        for life in self.workers.lives:
            foreign = life.index != scenario.guilty and -(life.code or 0) in crashes
            require(not foreign, f"worker {life.index} crashed by itself, with {life.code}")

    def first_failure(self) -> str:
        """Return the first worker that failed and its exit code, in brackets; empty if none did."""
        failed = sorted((life for life in self.workers.lives if life.code), key=lambda life: life.ended)
        return f" (the first to fail was worker {failed[0].index}, with {failed[0].code})" if failed else ""

    def require_restarted(self, index: int) -> int:
        """Return how many times a worker was started again after it ended by SIGKILL.

        Raises:
            FaultMissedError: the worker ended otherwise, or was not started again.
        """
        first, *later = [life for life in self.workers.lives if life.index == index]
        require(first.code == -Signals.SIGKILL, f"worker {index} ended with {first.code}, not by SIGKILL")
        require(later, f"worker {index} was not started again")
        return len(later)

    def require_trouble(self) -> str:
        """Return who failed or still ran at the end: `, worker 1 ended with -9`.

        Empty if the scenario expects a healthy job, or only `unknown`.

        Raises:
            FaultMissedError: all workers ended with 0, where the scenario expects a failure; or none ended
                with an error, where it expects that a resource is used up, which ends a process.
        """
        expect = self.workspace.scenario.expect
        accepted = {expect["cause"], *expect.get("accept", ())}
        if "healthy" in accepted or accepted == {"unknown"}:
            return ""
        bad = [life for life in self.workers.lives if life.code != 0]
        require(bad, "nothing was done to the job, and every worker ended with 0")
        failed = [life for life in bad if life.code is not None]
        used_up = expect["cause"].startswith("resource.")
        require(failed or not used_up, "no worker ended with an error, as without the resource it would")
        ends = {
            life.index: "ran at the end" if life.code is None else f"ended with {life.code}" for life in bad
        }
        return "".join(f", worker {index} {end}" for index, end in ends.items())

    def require_success(self) -> None:
        """Check that all workers ended with 0 (in a job with parameter servers: the chief).

        Raises:
            FaultMissedError: a worker failed, or was still running.
        """
        scenario = self.workspace.scenario
        last = [self.life(index) for index in ([0] if scenario.mode == "ps" else range(scenario.workers))]
        for life in sorted(last, key=lambda life: life.ended or math.inf):
            require(
                life.code is not None, f"worker {life.index} was still running at the end of a healthy job"
            )
            require(life.code == 0, f"worker {life.index} of a healthy job ended with {life.code}")


def _options(command: Sequence[str]) -> dict[str, str]:
    """Return values by `--option`; an option without a value gets an empty string."""
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
