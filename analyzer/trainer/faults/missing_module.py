"""A module of the program was not shipped to the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.workspace import Workspace


@dataclass
class MissingModule(Fault):
    """All workers import it; on the guilty one it is not there."""

    def prepare(self, workspace: Workspace) -> None:
        """Take it away."""
        (workspace.folder(self.guilty) / "windowing.py").unlink()

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Let every worker use it."""
        return ("--normalise",)
