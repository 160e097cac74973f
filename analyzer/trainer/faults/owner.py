"""The workers run as a user without permission for a file or directory of the guilty worker."""

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
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.witness.evidence import Evidence

NOBODY = 65534


@dataclass
class Owner(Fault):
    """`of` is `data` (a file that only root reads) or `checkpoints` (a directory that only root writes)."""

    of: str = "data"
    taken: Path | None = field(default=None, init=False)
    user: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.of not in {"data", "checkpoints"}:
            raise ValueError(f"nothing that can belong to somebody else: {self.of!r}")

    def prepare(self, workspace: Workspace) -> None:
        """Give everything else to the workers' user."""
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
        """Start the worker as that user."""
        user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        return ("setpriv", *user, "--pdeathsig=KILL", *usual)

    def witness(self, evidence: Evidence) -> str:
        """Require the owner of the file and the user of the process, as the kernel shows them."""
        evidence.life(self.guilty)
        require(self.user == NOBODY, f"worker {self.guilty} ran as user {self.user}")
        require(self.taken and self.taken.stat().st_uid == 0, "root owns nothing of it")
        return f"worker {self.guilty} ran as user {NOBODY}; {evidence.require_ended_badly(self.guilty)}"

    def observe(self, workers: WorkerProcesses) -> None:
        """Note the user of the guilty worker."""
        for life in workers.alive():
            if life.index == self.guilty and (ids := proc.status(life.pid, "Uid")):
                self.user = int(ids.split()[1])
