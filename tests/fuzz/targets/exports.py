"""Logs as programs write them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import damaged, endless, forgotten, unsaid
from tests.fuzz.target import Case


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What no log holds is said, and a cut costs nothing before it."""
    yield from unsaid(case, tables)
    yield from forgotten(case, tables)
    if endless(case.data) and not damaged(tables):
        yield "the middle of an endless line is left out, and not said"
