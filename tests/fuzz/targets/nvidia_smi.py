"""What nvidia-smi prints."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_nvidia_smi import DETAILS, DMON, NAME, OLD_TABLE, QUERY, TABLE, WITHOUT_UNITS

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed(NAME, TABLE.encode())
    yield Seed(NAME, OLD_TABLE.encode())
    yield Seed(NAME, QUERY.encode())
    yield Seed(NAME, WITHOUT_UNITS.encode())
    yield Seed(NAME, DMON.encode())
    yield Seed(NAME, DETAILS.encode())
