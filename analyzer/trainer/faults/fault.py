"""Defines the base class of faults, with a method for each moment at which a fault can act."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.witness.evidence import Evidence

    Alone = Callable[[Sequence[str]], None]


@dataclass
class Fault:
    """Base class that does nothing; subclasses override the methods for the moments at which they act.

    The additional init fields of a subclass are its parameters in a scenario file.
    """

    fits_any_program: ClassVar[bool] = False
    """True if the fault acts from outside, and not on files or options of the trainer's own program."""
    guilty: int
    step: int
    struck: float = field(default=0.0, init=False)
    """Monotonic time at which the fault struck a running job; 0 if not yet, or if present from the start."""

    def strike(self) -> None:
        """Record in `struck` that the fault strikes now; subclasses call this where they inject it."""
        self.struck = time.monotonic()

    def check(self, scenario: Scenario) -> None:
        """Raise ValueError if the fault is impossible in this scenario."""

    def before(self, workspace: Workspace, alone: Alone) -> None:
        """Act before everything else; `alone` runs the program without a cluster and waits for it."""

    def prepare(self, workspace: Workspace) -> None:
        """Act before any worker starts, after its files have been written."""

    def should_start(self, index: int) -> bool:  # noqa: ARG002 - a default
        """Return False if the launcher shall never start this worker."""
        return True

    def environment(self, index: int) -> Mapping[str, str]:  # noqa: ARG002 - a default
        """Return additional environment variables of this worker."""
        return {}

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - a default
        """Return additional command-line arguments of this worker."""
        return ()

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - a default
        """Return this worker's TF_CONFIG, or None to leave it unset."""
        return usual

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - a default
        """Return the command line that starts this worker."""
        return usual

    def delay(self, index: int) -> float:  # noqa: ARG002 - a default
        """Return by how many seconds to delay the start of this worker."""
        return 0.0

    def started(self, pid: int, index: int) -> None:
        """Act right after a worker's process was started."""

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:
        """Act on the latest step of a worker; called at every poll for each started worker."""

    def observe(self, workers: WorkerProcesses) -> None:
        """Collect evidence from the running workers; called at every poll."""

    def witness(self, evidence: Evidence) -> str:
        """Return the proof that the fault took effect, which never relies on what workers print.

        Raises:
            FaultMissedError: the fault took no effect, or another failure came first.
        """
        return f"no fault{evidence.require_trouble()}"

    def is_busy(self) -> bool:
        """Return True if the fault will still act while no worker is running."""
        return False

    def leaves(self) -> Mapping[str, bytes]:
        """Return the content of additional files for the run directory, by name."""
        return {}

    def cleanup(self) -> None:
        """Undo everything after the job, however it ended."""
