"""What df prints of the disks of a worker."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_disks import HUMAN, INODES, NAME, POSIX, TYPED, WRAPPED

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed(NAME, HUMAN.encode())
    yield Seed(NAME, TYPED.encode())
    yield Seed(NAME, POSIX.encode())
    yield Seed(NAME, INODES.encode())
    yield Seed(NAME, WRAPPED.encode())
