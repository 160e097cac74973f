"""What nvidia-smi prints."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_nvidia_smi import DETAILS, DMON, NAME, OLD_TABLE, QUERY, TABLE, WITHOUT_UNITS

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    return [Seed(NAME, text.encode()) for text in (TABLE, OLD_TABLE, QUERY, WITHOUT_UNITS, DMON, DETAILS)]
