"""The cluster is given on the command line, with a wrong entry for the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


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
        addresses = [*self.addresses]
        if index == self.guilty:
            host, port = addresses[self.peer].rsplit(":", 1)
            addresses[self.peer] = f"{host}:{int(port) - 1}"
        return ("--cluster-from", "arguments", "--workers", ",".join(addresses), "--task", str(index))
