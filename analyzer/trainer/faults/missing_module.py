"""A module of the program is missing on the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class MissingModule(Fault):
    """All workers import it; the guilty worker does not have it."""

    def prepare(self, workspace: Workspace) -> None:
        """Delete the module."""
        (workspace.folder(self.guilty) / "windowing.py").unlink()

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker import the module."""
        return ("--normalise",)
