"""The guilty worker starts later than the others: no fault, if they have patience."""

from dataclasses import dataclass

from analyzer.trainer.faults.fault import Fault


@dataclass
class LateStart(Fault):
    """It starts `seconds` later."""

    seconds: float = 10.0

    def delay(self, index: int) -> float:
        """Hold the guilty worker back."""
        return self.seconds if index == self.guilty else 0.0
