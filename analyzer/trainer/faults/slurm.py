"""The job runs as Slurm steps, with a Slurm variable missing or wrong."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Slurm(Fault):
    """`change` replaces variables in the guilty worker's environment; with `everyone`, in all workers'.

    An empty value removes a variable. All tasks run on one node.
    """

    change: dict[str, str] = field(default_factory=dict)
    everyone: bool = False
    gpus_per_node: int = 0
    """The number given to the program; 0 for one per task."""
    tasks: int = field(default=0, init=False)
    port_base: int = field(default=0, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Find consecutive free ports, one for each task."""
        self.tasks = workspace.scenario.workers
        self.port_base = next(base for base in range(18_800, 30_000, 100) if _are_free(base, self.tasks))

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - all alike
        """Set no TF_CONFIG, because the resolver asks Slurm."""
        return None

    def environment(self, index: int) -> Mapping[str, str]:
        """Return the variables that `srun` sets, with the change."""
        return self.usual(index) | (self.change if self.everyone or index == self.guilty else {})

    def usual(self, index: int) -> dict[str, str]:
        """Return the variables that `srun` sets."""
        return {
            "SLURM_JOB_ID": "48213",
            "SLURM_PROCID": str(index),
            "SLURM_STEP_NUM_TASKS": str(self.tasks),
            "SLURM_STEP_NODELIST": "localhost",
            "SLURM_STEP_TASKS_PER_NODE": str(self.tasks),
        }

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let the program use Slurm's resolver."""
        gpus = self.gpus_per_node or self.tasks
        return ("--cluster-from", "slurm", "--port-base", str(self.port_base), "--gpus-per-node", str(gpus))

    def witness(self, evidence: Evidence) -> str:
        """Require the variables of Slurm, with the change, in the environment that the kernel shows."""
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
