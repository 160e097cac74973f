"""The cluster is given on the command line, with a wrong entry for the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.network import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class PeerList(Fault):
    """The guilty worker expects `peer` at a port without a listener."""

    peer: int = 0
    addresses: tuple[str, ...] = field(default=(), init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Remember the addresses of the cluster."""
        self.addresses = workspace.addresses

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - all alike
        """Set no TF_CONFIG, because the command line has the cluster."""
        return None

    def arguments(self, index: int) -> Sequence[str]:
        """Pass the cluster as arguments."""
        addresses = ",".join(self._expected(index))
        return ("--cluster-from", "arguments", "--workers", addresses, "--task", str(index))

    def _expected(self, index: int) -> list[str]:
        """Return the addresses that a worker is told."""
        addresses = [*self.addresses]
        if index == self.guilty:
            host, port = addresses[self.peer].rsplit(":", 1)
            addresses[self.peer] = f"{host}:{int(port) - 1}"
        return addresses

    def witness(self, evidence: Evidence) -> str:
        """Require the wrong address on the guilty worker's command line, and that nobody answers there."""
        evidence.life(self.guilty)
        wrong = self._expected(self.guilty)[self.peer]
        command = " ".join(evidence.commands.get(self.guilty, ()))
        require(wrong in command, f"worker {self.guilty} was not told {wrong}")
        require(wrong not in self.addresses, f"{wrong} is the address of a worker")
        require(not answers(wrong), f"somebody answers at {wrong}")
        return f"command line of worker {self.guilty} in /proc; nobody answers at {wrong}"
