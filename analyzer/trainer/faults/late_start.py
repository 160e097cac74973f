"""The guilty worker starts later than the others; not a fault if they wait long enough."""

from dataclasses import dataclass

from analyzer.trainer.faults.fault import Fault


@dataclass
class LateStart(Fault):
    """It starts `seconds` later."""

    seconds: float = 10.0

    def delay(self, index: int) -> float:
        """Delay the guilty worker."""
        return self.seconds if index == self.guilty else 0.0
