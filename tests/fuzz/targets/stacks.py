"""What py-spy dumps of a worker."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_stacks import FEED, HELD, NAME, NATIVE, OLD, WAITS

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed(NAME, HELD.encode())
    yield Seed(NAME, WAITS.encode())
    yield Seed(NAME, NATIVE.encode())
    yield Seed(NAME, OLD.encode())
    yield Seed(NAME, FEED.encode())
