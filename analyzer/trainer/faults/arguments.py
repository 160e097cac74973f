"""Adds command-line arguments, for the guilty worker or for all workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Arguments(Fault):
    """Pass additional command-line arguments to the program."""

    add: list[str] = field(default_factory=list)
    everyone: bool = False

    def arguments(self, index: int) -> Sequence[str]:
        """Return the additional arguments of a worker; none if it is not affected."""
        return tuple(map(str, self.add)) if self.everyone or index == self.guilty else ()

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc` that a command line differs from the usual one."""
        everyone = range(evidence.workspace.scenario.workers)
        return evidence.require_changed_options(everyone if self.everyone else [self.guilty])
