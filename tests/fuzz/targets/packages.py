"""Lists of packages, as pip and conda print them."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_packages import CONDA, ENVIRONMENT, EXPORTED, FREEZE, LIST, NAME

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    return [Seed(NAME, text.encode()) for text in (FREEZE, LIST, CONDA, EXPORTED, ENVIRONMENT)]
