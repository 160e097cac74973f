"""Adds command-line arguments, for the guilty worker or for everybody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Arguments(Fault):
    """Further arguments of the program."""

    add: list[str] = field(default_factory=list)
    everyone: bool = False

    def arguments(self, index: int) -> Sequence[str]:
        """Return the additional arguments."""
        return tuple(map(str, self.add)) if self.everyone or index == self.guilty else ()
