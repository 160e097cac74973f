"""Starts the guilty worker later than the others, which is no fault if they wait long enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class LateStart(Fault):
    """Start the guilty worker `seconds` after the others."""

    fits_any_program: ClassVar[bool] = True
    seconds: float = 10.0

    def delay(self, index: int) -> float:
        """Return `seconds` for the guilty worker, 0 for the others."""
        return self.seconds if index == self.guilty else 0.0

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the guilty worker started late or, if `seconds` is 0, ran another Python."""
        late = evidence.life(self.guilty).started - min(life.started for life in evidence.workers.lives)
        if self.seconds:
            require(late >= self.seconds, f"worker {self.guilty} started {late:.1f} s after the first")
            return f"start of the process, {late:.1f} s after the first"
        others = {path for index, path in evidence.programs.items() if index != self.guilty}
        interpreters = {evidence.usual[index].command[0] for index in evidence.usual}
        require(len(interpreters) > 1, "all workers run the same Python (see --guilty-python)")
        return f"other interpreter: {len(others | {evidence.programs.get(self.guilty)})} executables in /proc"
