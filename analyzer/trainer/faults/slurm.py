"""Runs the job with the variables of a Slurm step, of which some are missing or wrong."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Slurm(Fault):
    """Replace the variables in `change` in the guilty worker's environment or, with `everyone`, in all.

    An empty value removes a variable. All tasks run on one node.
    """

    change: dict[str, str] = field(default_factory=dict)
    everyone: bool = False
    gpus_per_node: int = 0
    """Value of the program's `--gpus-per-node`; 0 for one GPU per task."""
    tasks: int = field(default=0, init=False)
    port_base: int = field(default=0, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Find consecutive free ports, one for each task."""
        self.tasks = workspace.scenario.workers
        self.port_base = next(base for base in range(18_800, 30_000, 100) if _are_free(base, self.tasks))

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - all alike
        """Return None: the cluster resolver reads Slurm's variables."""
        return None

    def environment(self, index: int) -> Mapping[str, str]:
        """Return the variables that `srun` sets, changed for the affected workers."""
        return self.usual(index) | (self.change if self.everyone or index == self.guilty else {})

    def usual(self, index: int) -> dict[str, str]:
        """Return the variables that `srun` sets for a task, without the fault."""
        return {
            "SLURM_JOB_ID": "48213",
            "SLURM_PROCID": str(index),
            "SLURM_STEP_NUM_TASKS": str(self.tasks),
            "SLURM_STEP_NODELIST": "localhost",
            "SLURM_STEP_TASKS_PER_NODE": str(self.tasks),
        }

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the options that make the program use the Slurm cluster resolver."""
        gpus = self.gpus_per_node or self.tasks
        return ("--cluster-from", "slurm", "--port-base", str(self.port_base), "--gpus-per-node", str(gpus))

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc` that every worker has the intended Slurm variables."""
        for index in range(self.tasks):
            there = evidence.environments.get(index)
            require(there, f"worker {index} ended before its environment was seen")
            wanted = {name: value for name, value in self.environment(index).items() if value}
            own = {name: value for name, value in (there or {}).items() if name in self.usual(index)}
            require(own == wanted, f"worker {index} has other variables of Slurm: {own}")
        harmless = self.change and self.environment(self.guilty) == self.usual(self.guilty)
        require(not harmless, "the change is none")
        return "environment in /proc"


def _are_free(base: int, count: int) -> bool:
    with suppress(OSError), ExitStack() as held:
        for port in range(base, base + count):
            held.enter_context(socket.create_server(("127.0.0.1", port)))
        return True
    return False
