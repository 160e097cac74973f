"""Never starts the guilty worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require
from analyzer.trainer.witness.network import answers

if TYPE_CHECKING:
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class NeverStart(Fault):
    """Leave out the guilty worker; its peers wait for it until they time out."""

    fits_any_program: ClassVar[bool] = True

    def should_start(self, index: int) -> bool:
        """Return False for the guilty worker, True for the others."""
        return index != self.guilty

    def witness(self, evidence: Evidence) -> str:
        """Return proof that others started, the guilty worker did not, and nothing listens at its address."""
        started = {life.index for life in evidence.workers.lives}
        require(started, "nobody was started")
        require(self.guilty not in started, f"worker {self.guilty} was started")
        address = evidence.workspace.addresses[self.guilty]
        require(evidence.workspace.hosts or not answers(address), f"somebody answers at {address}")
        return f"no process of worker {self.guilty}"
