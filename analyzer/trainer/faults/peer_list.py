"""The cluster is written on the command line, and the guilty worker's says something else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class PeerList(Fault):
    """The guilty worker looks for `peer` at a port where nobody listens."""

    peer: int = 0
    addresses: tuple[str, ...] = field(default=(), init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Take the cluster down."""
        self.addresses = workspace.addresses

    def tf_config(self, index: int, usual: str) -> str | None:  # noqa: ARG002 - all alike
        """Set none: the command line says it all."""
        return None

    def arguments(self, index: int) -> Sequence[str]:
        """Write the cluster out."""
        addresses = [*self.addresses]
        if index == self.guilty:
            host, port = addresses[self.peer].rsplit(":", 1)
            addresses[self.peer] = f"{host}:{int(port) - 1}"
        return ("--cluster-from", "arguments", "--workers", ",".join(addresses), "--task", str(index))
