"""The list of logs that could not be collected."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_collection import LOST, NAME

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """Two entries."""
    yield Seed(NAME, LOST.encode())
