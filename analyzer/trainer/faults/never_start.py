"""The guilty worker is never started."""

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
    """Its peers wait for it until they time out."""

    fits_any_program: ClassVar[bool] = True

    def should_start(self, index: int) -> bool:
        """Start every worker but the guilty one."""
        return index != self.guilty

    def witness(self, evidence: Evidence) -> str:
        """Require that others run, that the worker never did, and that nobody answers at its address."""
        started = {life.index for life in evidence.workers.lives}
        require(started, "nobody was started")
        require(self.guilty not in started, f"worker {self.guilty} was started")
        address = evidence.workspace.addresses[self.guilty]
        require(evidence.workspace.hosts or not answers(address), f"somebody answers at {address}")
        return f"no process of worker {self.guilty}"
