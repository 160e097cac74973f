"""The guilty worker is never started."""

from dataclasses import dataclass

from analyzer.trainer.faults.fault import Fault


@dataclass
class NeverStart(Fault):
    """Its peers wait for it until they time out."""

    def should_start(self, index: int) -> bool:
        """Start every worker but the guilty one."""
        return index != self.guilty
