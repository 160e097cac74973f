"""A run: its sources, its tables, the patterns to search for, and its diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from analyzer.model.contract import DiagnosisDocument
from analyzer.model.findings import Verdict
from analyzer.model.source_kinds import Kind

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import polars as pl

Tables: TypeAlias = "Mapping[str, pl.DataFrame]"
"""Table name (see `schema.TABLES`) to frame."""


class Source(NamedTuple):
    """One file of a run, or one stream inside a file.

    `name` is relative to the run and is what reports show; `worker` is `role:index` if the file's name states
    it, else None; `attempt` counts the worker's attempts, from 1 once identified.
    """

    name: str
    path: Path
    kind: Kind
    worker: str | None = None
    attempt: int = 1
    skip: str = ""
    """Why the source must not be opened; empty if it may be."""


class RunDir(NamedTuple):
    """The files of a run before parsing, each with the worker that its name states."""

    name: str
    sources: tuple[Source, ...]
    scratch: TemporaryDirectory[str] | None = None
    """Directory of unpacked archives; deleted together with the RunDir."""


class Pattern(NamedTuple):
    """What a rule searches for in log records; `id` is `rule/signal`.

    A record matches when it contains one of `literals` and, where there is a `regex`, that matches too.
    """

    id: str
    literals: tuple[str, ...]
    regex: str | None = None
    levels: frozenset[str] = frozenset()


class Diagnosis(NamedTuple):
    """The document that every renderer takes: the output contract, `reports/diagnosis.schema.json`."""

    document: DiagnosisDocument

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the job."""
        return Verdict(self.document["verdict"])


class Run(NamedTuple):
    """A run for use in notebooks: every table of docs/tables.md by name, and the diagnosis."""

    name: str
    tables: Tables
    diagnosis: Diagnosis

    @property
    def document(self) -> Mapping[str, Any]:
        """Return the diagnosis document as untyped JSON data."""
        return self.diagnosis.document

    def pandas(self) -> dict[str, Any]:
        """Return the tables as pandas frames.

        Raises:
            ModuleNotFoundError: the extra `pandas` is not installed.

        """
        made = import_module("pandas").DataFrame  # here, for nothing but a notebook needs it
        return {name: made(table.to_dict(as_series=False)) for name, table in self.tables.items()}
