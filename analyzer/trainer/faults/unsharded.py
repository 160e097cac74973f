"""The program does not shard its data, on every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Unsharded(Fault):
    """Every worker reads every part file, in the same order and with the same seed."""

    def arguments(self, index: int) -> Sequence[str]:  # noqa: ARG002 - all alike
        """Turn sharding off."""
        return ("--shard", "none")
