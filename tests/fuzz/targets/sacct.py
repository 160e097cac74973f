"""What Slurm's accounting says, in the forms in which `sacct` prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_sacct import DEFAULT, FORMATTED, JSON, NAMED, PARSABLE

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed("sacct.txt", DEFAULT.encode())
    yield Seed("sacct-2.txt", FORMATTED.encode())
    yield Seed("sacct-3.txt", NAMED.encode())
    yield Seed("sacct-4.txt", PARSABLE.encode())
    yield Seed("sacct.json", json.dumps(JSON).encode())
