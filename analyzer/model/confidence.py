"""The five confidence levels and the share of correct diagnoses that each promises."""

from collections.abc import Mapping
from types import MappingProxyType

LEVELS: Mapping[str, float] = MappingProxyType(
    {"weak": 0.4, "possible": 0.6, "likely": 0.78, "strong": 0.9, "certain": 0.97}
)
"""Level → share of diagnoses at this level that should be right; docs/scoreboard.md has measured shares."""


def level(name: str) -> str:
    """Format a level with its share: `strong 0.90`."""
    return f"{name} {LEVELS[name]:.2f}"
