"""What `env` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.model.run import Tables
from tests.fuzz.oracles import WIDE, unsaid
from tests.fuzz.target import Case, Seed
from tests.ingest.platform.test_environments import DECLARED, ENV


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed("env-1.txt", ENV.encode())
    yield Seed("env-1.txt", DECLARED.encode())


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """As of other texts; but a NUL ends a variable of the kernel's."""
    plain = case.data if case.data.startswith(WIDE) else case.data.replace(b"\0", b"\n")
    yield from unsaid(case._replace(data=plain), tables)
