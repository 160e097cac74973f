"""Sets environment variables, for the guilty worker or for everybody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Environment(Fault):
    """The variables; one with an empty value is unset."""

    set: dict[str, str] = field(default_factory=dict)
    everyone: bool = False

    def environment(self, index: int) -> Mapping[str, str]:
        """Return the variables."""
        return self.set if self.everyone or index == self.guilty else {}
