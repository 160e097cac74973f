"""Logs as programs write them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import damaged, endless, forgotten, unsaid
from tests.fuzz.target import Case, Seed
from tests.ingest.logs.test_documents import FILES


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What no log holds is said, and a cut costs nothing before it; of a document, it costs what it breaks."""
    yield from unsaid(case, tables)
    if case.seed.name in {name for name, _ in FILES.values()}:
        return
    yield from forgotten(case, tables)
    if endless(case.data) and not damaged(tables):
        yield "the middle of an endless line is left out, and not said"


def seeds() -> Iterator[Seed]:
    """Logs in documents of other formats."""
    yield from (Seed(name, text.encode()) for name, text in FILES.values())
