"""What a fault is: the moments of a job's life at which one can act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

    Alone = Callable[[Sequence[str]], None]


@dataclass
class Fault:
    """A fault that does nothing: each of its kind overrides the moments at which it acts.

    The further fields of a subclass are the parameters that a scenario may give it.
    """

    guilty: int
    step: int

    def check(self, scenario: Scenario) -> None:
        """Before a job is made of the scenario: raise ValueError when the fault cannot be had in it."""

    def before(self, workspace: Workspace, alone: Alone) -> None:
        """Before everything else: `alone` runs the workers' program by itself, to its end."""

    def prepare(self, workspace: Workspace) -> None:
        """Before any worker starts, and after its files lie ready."""

    def should_start(self, index: int) -> bool:  # noqa: ARG002 - a default
        """Whether the launcher starts this worker at all."""
        return True

    def environment(self, index: int) -> Mapping[str, str]:  # noqa: ARG002 - a default
        """Return what this worker's environment has besides the usual."""
        return {}

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - a default
        """Return what this worker's command line has besides the usual."""
        return ()

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - a default
        """Return this worker's TF_CONFIG; None when it is not set at all."""
        return usual

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - a default
        """Return the command that starts this worker."""
        return usual

    def delay(self, index: int) -> float:  # noqa: ARG002 - a default
        """Return how many seconds after the first worker this one starts."""
        return 0.0

    def started(self, pid: int, index: int) -> None:
        """Act on a worker's process as soon as it is there."""

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Act when a worker's log has come to a step."""

    def is_busy(self) -> bool:
        """Whether it will still act though no worker runs."""
        return False

    def leaves(self) -> Mapping[str, bytes]:
        """Return what else lies in the run directory, by name, as the system writes it."""
        return {}

    def cleanup(self) -> None:
        """After the job, however it ended."""
