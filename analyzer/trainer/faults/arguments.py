"""What somebody wrote on the command line: on the guilty worker's only, or on everybody's."""

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
        """Return the further arguments."""
        return tuple(map(str, self.add)) if self.everyone or index == self.guilty else ()
