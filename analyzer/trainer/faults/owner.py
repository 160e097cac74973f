"""Runs the workers as a user without permission for a file or directory of the guilty worker."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness import proc
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

NOBODY = 65534


@dataclass
class Owner(Fault):
    """Deny access to `data` (a file only root reads) or `checkpoints` (a directory only root writes)."""

    of: str = "data"
    taken: Path | None = field(default=None, init=False)
    user: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.of not in {"data", "checkpoints"}:
            raise ValueError(f"nothing that can belong to somebody else: {self.of!r}")

    def prepare(self, workspace: Workspace) -> None:
        """Make the workers' user own all files, and root the denied one; needs root."""
        if os.geteuid():
            raise UserError("files can be given away by root only")
        workspace.root.chmod(0o755)
        for index in range(workspace.scenario.workers):
            for path in [workspace.folder(index), *workspace.folder(index).rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        self._take(workspace.part_file(self.guilty) if self.of == "data" else self._checkpoints(workspace))

    def _checkpoints(self, workspace: Workspace) -> Path:
        folder = workspace.folder(self.guilty) / "checkpoints"
        folder.mkdir()
        return folder

    def _take(self, path: Path) -> None:
        self.taken = path
        os.chown(path, 0, 0)
        path.chmod(0o755 if path.is_dir() else 0o600)

    def command(self, index: int, usual: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Return the command that starts the worker as the unprivileged user."""
        user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        return ("setpriv", *user, "--pdeathsig=KILL", *usual)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that root owns the path and that the guilty worker ran as another user, and failed."""
        evidence.life(self.guilty)
        require(self.user == NOBODY, f"worker {self.guilty} ran as user {self.user}")
        require(self.taken and self.taken.stat().st_uid == 0, "root owns nothing of it")
        return f"worker {self.guilty} ran as user {NOBODY}; {evidence.require_raised(self.guilty)}"

    def observe(self, workers: WorkerProcesses) -> None:
        """Record the user ID of the guilty worker from `/proc`."""
        for life in workers.alive():
            if life.index == self.guilty and (ids := proc.status(life.pid, "Uid")):
                self.user = int(ids.split()[1])
