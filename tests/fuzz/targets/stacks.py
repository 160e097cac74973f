"""What py-spy dumps of a worker."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_stacks import FEED, HELD, NAME, NATIVE, OLD, WAITS

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    return [Seed(NAME, text.encode()) for text in (HELD, WAITS, NATIVE, OLD, FEED)]
