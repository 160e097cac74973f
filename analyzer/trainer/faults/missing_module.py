"""Deletes a module of the program on the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class MissingModule(Fault):
    """Make all workers import `windowing`, and delete it on the guilty worker."""

    def prepare(self, workspace: Workspace) -> None:
        """Delete the module from the guilty worker's folder."""
        (workspace.folder(self.guilty) / "windowing.py").unlink()

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the option that makes every worker import the module."""
        return ("--normalise",)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the module is missing and that the guilty worker failed."""
        path = evidence.workspace.folder(self.guilty) / "windowing.py"
        require(not path.exists(), "the module is there")
        return f"no {path.name}; {evidence.require_raised(self.guilty)}"
