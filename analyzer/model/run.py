"""A run as handed over and as read: its sources, its tables, and what rules look for in them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from analyzer.model.diagnosis import Diagnosis
from analyzer.model.source_kinds import Kind

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import polars as pl

Tables: TypeAlias = "Mapping[str, pl.DataFrame]"
"""Table name (see `schema.TABLES`) to frame."""


class Source(NamedTuple):
    """One file of a run, or one stream inside a file.

    `name` is relative to the run and is what reports show; `worker` is `role:index` as far as the
    file's own name tells, else None; `attempt` counts the lives of that worker, from 1 once it is read.
    """

    name: str
    path: Path
    kind: Kind
    worker: str | None = None
    attempt: int = 1
    skip: str = ""
    """Why it must not be opened; empty when it may."""


class RunDir(NamedTuple):
    """What was handed over: every file named and given to a worker, none parsed."""

    name: str
    sources: tuple[Source, ...]
    scratch: TemporaryDirectory[str] | None = None
    """Where the contents of archives lie; gone with the RunDir."""


class Pattern(NamedTuple):
    """What a rule looks for in log records; `id` is `rule/signal`.

    A record matches when it contains one of `literals` and, where there is a `regex`, that matches too.
    """

    id: str
    literals: tuple[str, ...]
    regex: str | None = None
    levels: frozenset[str] = frozenset()


class Run(NamedTuple):
    """A run as a notebook has it: every table of docs/tables.md by name, and the diagnosis."""

    name: str
    tables: Tables
    diagnosis: Diagnosis

    @property
    def document(self) -> Mapping[str, Any]:
        """The document of the diagnosis, untyped as a reader of its JSON has it."""
        return self.diagnosis.document

    def pandas(self) -> dict[str, Any]:
        """The tables as pandas frames.

        Raises:
            ModuleNotFoundError: the extra `pandas` is not installed.

        """
        made = import_module("pandas").DataFrame  # here, for nothing but a notebook needs it
        return {name: made(table.to_dict(as_series=False)) for name, table in self.tables.items()}
