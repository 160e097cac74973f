"""What identity rests on: the sources as their names tell them apart, and what they state of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

SAID_AT_START = ("tensorflow", "task", "python", "host", "num_workers", "replicas", "strategy")
"""What a script says of itself when it starts, if it does; said again, it started again."""
_KEYS = (
    *SAID_AT_START, "own_device", "server_address", "cluster_spec", "process_banner", "requeued", "restarts",
)  # fmt: skip


class NamedSource(NamedTuple):
    """A source with the worker and the attempt that its name tells; an attempt that is not told is 1."""

    name: str
    kind: str
    worker: str | None
    attempt: int

    @property
    def is_log(self) -> bool:
        """Whether a process wrote it line by line."""
        return self.kind == Kind.LOG.value


class Statement(NamedTuple):
    """A row of `facts` that can tell who speaks, or that a process started."""

    line: int
    key: str
    value: str
    worker: str | None


Statements = Mapping[str, Sequence[Statement]]
"""Source → what it states, in the order of the table."""


def named_sources(sources: pl.DataFrame) -> list[NamedSource]:
    """The sources of a run, in the order of the table."""
    columns = sources.select("source", "kind", "worker", "attempt")
    return [NamedSource(*row) for row in columns.iter_rows()]


def statements(facts: pl.DataFrame) -> Statements:
    """What each source states of itself; a fact without a line stands before the first."""
    wanted = facts.filter(pl.col("key").is_in(_KEYS)).select("source", "line", "key", "value", "worker")
    found: dict[str, list[Statement]] = {}
    for source, line, key, value, worker in wanted.iter_rows():
        found.setdefault(source, []).append(Statement(line or 0, key, value, worker))
    return found


def with_rows(tables: Tables, sources: Iterable[str]) -> set[str]:
    """Those of some sources from which any table has a row."""
    wanted = list(sources)
    frames = [frame["source"] for name, frame in tables.items() if name != "sources" and frame.height]
    return {source for column in frames for source in column.filter(column.is_in(wanted)).unique()}
