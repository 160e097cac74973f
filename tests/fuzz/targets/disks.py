"""What df prints of the disks of a worker."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_disks import HUMAN, INODES, NAME, POSIX, TYPED, WRAPPED

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    return [Seed(NAME, text.encode()) for text in (HUMAN, TYPED, POSIX, INODES, WRAPPED)]
