"""The guilty worker's port belongs to another process."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class HoldPort(Fault):
    """The trainer itself listens on it, as another service might."""

    held: ExitStack = field(default_factory=ExitStack, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Listen on the guilty worker's address."""
        host, port = workspace.addresses[self.guilty].rsplit(":", 1)
        self.held.enter_context(socket.create_server((host, int(port))))

    def cleanup(self) -> None:
        """Close the port."""
        self.held.close()
