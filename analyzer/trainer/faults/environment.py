"""Sets environment variables, for the guilty worker or for all workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.trainer.witness.evidence import Evidence


@dataclass
class Environment(Fault):
    """Set environment variables; an empty value unsets one."""

    fits_any_program: ClassVar[bool] = True
    set: dict[str, str] = field(default_factory=dict)
    everyone: bool = False

    def environment(self, index: int) -> Mapping[str, str]:
        """Return the variables to set for a worker; none if it is not affected."""
        return self.set if self.everyone or index == self.guilty else {}

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc` that each affected worker has the changed variables."""
        everyone = range(evidence.workspace.scenario.workers)
        for index in everyone if self.everyone else [self.guilty]:
            evidence.life(index)
            there, usual = evidence.environments.get(index, {}), evidence.usual[index].environment
            require(there, f"worker {index} ended before its environment was seen")
            for name, value in self.set.items():
                require(there.get(name, "") == value, f"worker {index} does not have {name}={value}")
            changed = any(usual.get(name, "") != value for name, value in self.set.items())
            require(changed, f"worker {index} would have had the same environment without the fault")
        return "environment in /proc"
