"""Occupies the guilty worker's port before the worker starts."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class HoldPort(Fault):
    """Listen on the guilty worker's port in the trainer, as another service might."""

    fits_any_program: ClassVar[bool] = True
    held: ExitStack = field(default_factory=ExitStack, init=False)
    held_socket: socket.socket | None = field(default=None, init=False)

    def prepare(self, workspace: Workspace) -> None:
        """Listen on the guilty worker's address."""
        host, port = workspace.addresses[self.guilty].rsplit(":", 1)
        self.held_socket = self.held.enter_context(socket.create_server((host, int(port))))

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the trainer still holds the port, and that the guilty worker failed."""
        require(self.held_socket and self.held_socket.fileno() >= 0, "the port is held by nobody")
        ended = evidence.require_raised(self.guilty)
        return f"the port is bound by the trainer; {ended}"

    def cleanup(self) -> None:
        """Close the port."""
        self.held.close()
