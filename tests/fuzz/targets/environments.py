"""What `env` prints."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.test_environments import DECLARED, ENV

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed("env-1.txt", ENV.encode())
    yield Seed("env-1.txt", DECLARED.encode())
