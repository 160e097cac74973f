"""Gives the cluster on the command line; the guilty worker gets a wrong address of one peer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.network import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class PeerList(Fault):
    """Give the guilty worker a port without a listener for `peer`."""

    peer: int = 0
    addresses: tuple[str, ...] = field(default=(), init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Store the addresses of the cluster."""
        self.addresses = workspace.addresses

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - all alike
        """Return None: the command line has the cluster."""
        return None

    def arguments(self, index: int) -> Sequence[str]:
        """Return the options that describe the cluster."""
        addresses = ",".join(self._expected(index))
        return ("--cluster-from", "arguments", "--workers", addresses, "--task", str(index))

    def _expected(self, index: int) -> list[str]:
        """Return the cluster addresses that a worker gets, with the wrong one for the guilty worker."""
        addresses = [*self.addresses]
        if index == self.guilty:
            host, port = addresses[self.peer].rsplit(":", 1)
            addresses[self.peer] = f"{host}:{int(port) - 1}"
        return addresses

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker's command line has the wrong address, where nothing listens."""
        evidence.life(self.guilty)
        wrong = self._expected(self.guilty)[self.peer]
        command = " ".join(evidence.commands.get(self.guilty, ()))
        require(wrong in command, f"worker {self.guilty} was not told {wrong}")
        require(wrong not in self.addresses, f"{wrong} is the address of a worker")
        require(not answers(wrong), f"somebody answers at {wrong}")
        return f"command line of worker {self.guilty} in /proc; nobody answers at {wrong}"
