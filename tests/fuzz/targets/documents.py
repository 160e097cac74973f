"""Logs in documents of other formats, of which a cut costs what it breaks."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import unsaid
from tests.fuzz.target import Case, Seed
from tests.ingest.logs.test_documents import FILES


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What no log holds is said."""
    yield from unsaid(case, tables)


def seeds() -> Iterator[Seed]:
    """One document of each format."""
    yield from (Seed(name, text.encode()) for name, text in FILES.values())
