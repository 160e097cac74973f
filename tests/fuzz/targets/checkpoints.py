"""The list of checkpoints, and their indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import unsaid
from tests.fuzz.target import Case, Seed
from tests.ingest.platform.test_checkpoints import INDEX, LATEST


def seeds() -> Iterable[Seed]:
    """One of each."""
    yield Seed("checkpoint", LATEST.encode())
    yield Seed("ckpt-12.index", INDEX)


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """A list is a text; an index is none."""
    if case.seed.name == "checkpoint":
        yield from unsaid(case, tables)
