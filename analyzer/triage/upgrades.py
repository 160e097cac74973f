"""How an old history becomes one of this version: the statements of each step; none is ever changed."""

from __future__ import annotations

from collections.abc import Sequence

UPGRADES: Sequence[Sequence[str]] = ()
"""The first step leads from version 1 to 2. Statements that every database understands."""
