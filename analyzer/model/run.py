"""A run: its sources, its tables, the patterns to search for, and its diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from analyzer.model.budget import Budget
from analyzer.model.contract import DiagnosisDocument
from analyzer.model.errors import missing_extra
from analyzer.model.findings import Verdict
from analyzer.model.schema import TABLES
from analyzer.model.source_kinds import Kind

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import polars as pl

Tables: TypeAlias = "Mapping[str, pl.DataFrame]"
"""Table name (see `schema.TABLES`) to frame."""


class NamedTables(dict[str, Any]):
    """Tables whose KeyError proposes the names that resemble the missing one."""

    def __missing__(self, name: str) -> object:
        """Raise KeyError for a name that no table has."""
        from difflib import get_close_matches

        similar = get_close_matches(name, self)
        known = f"did you mean {' or '.join(similar)}?" if similar else f"there are {', '.join(sorted(self))}"
        raise KeyError(f"no table {name}; {known}")


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
    reader: str = ""
    """Module of an installed package that reads the source; empty for the reader of its kind."""
    kind_name: str = ""
    """Name of the kind of source that the module in `reader` reads."""


class RunDir(NamedTuple):
    """The files of a run before parsing, each with the worker that its name states."""

    name: str
    sources: tuple[Source, ...]
    budget: Budget
    """What reading them may take, and has taken so far."""
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

    def __dir__(self) -> list[str]:
        """Return the names to complete, without those of tuples."""
        return _without_names_of_tuples(object.__dir__(self))

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the job."""
        return Verdict(self.document["verdict"])


class Run(NamedTuple):
    """What `analyze` returns: the diagnosis of a run, and all its tables by name (docs/tables.md)."""

    name: str
    tables: Tables
    diagnosis: Diagnosis

    def __dir__(self) -> list[str]:
        """Return the names to complete, without those of tuples."""
        return _without_names_of_tuples(object.__dir__(self))

    def __repr__(self) -> str:
        """Return verdict, cause, confidence and culprits in one line."""
        return f"<Run {self.name}: {', '.join(self._head())}>"

    def _repr_html_(self) -> str:
        """Return the decision for a notebook: verdict, summary, reasons, next steps, rows of each table."""
        from html import escape  # here, for nothing but a notebook needs it
        from re import sub

        diagnosis, tables = self.document, {name: table.height for name, table in self.tables.items()}
        rows = ", ".join(f"{name} {height:,}" for name, height in sorted(tables.items()) if height)

        def prose(text: str) -> str:
            return sub("`([^`]+)`", r"<code>\1</code>", escape(text))

        steps = (
            f"{step['text']} `{step['command']}`" if step["command"] else step["text"]
            for step in diagnosis["next"]
        )
        lists = (("Why", diagnosis["why"]), ("Next", list(steps)))
        parts = [
            f"<p><b>{escape(' · '.join(self._head()))}</b></p>",
            f"<p>{prose(diagnosis['summary'])}</p>",
            f"<p>{escape(self._restart())}</p>" * (diagnosis["verdict"] != "healthy"),
        ]
        for title, texts in lists:
            items = "".join(f"<li>{prose(text)}</li>" for text in texts)
            parts.append(f"<p>{title}</p><ol>{items}</ol>" if items else "")
        return "".join([*parts, f"<p>Rows in tables: {escape(rows)}</p>"])

    def _restart(self) -> str:
        """Return whether the job may be restarted, and from which checkpoint, as values of the document."""
        action = self.document["action"]
        unless = f" (unless {action['unless']})" if action.get("unless") else ""
        earlier = "one before " if action.get("checkpoint") == "earlier" else ""
        found = f"{earlier}{action['resume_from']}" if action["resume_from"] else "none found in the logs"
        return f"Restart: {action['retry'].replace('_', ' ')}{unless}. Checkpoint: {found}."

    def _head(self) -> list[str]:
        diagnosis = self.document
        blamed = [*diagnosis["culprits"], *(f"{worker} (suspect)" for worker in diagnosis["suspects"])]
        cause = diagnosis["cause"] if diagnosis["cause"] not in {None, diagnosis["verdict"]} else ""
        sure = f"{100 * diagnosis['confidence']:.0f} %" if diagnosis["cause"] else ""
        return [part for part in (diagnosis["verdict"], cause, sure, ", ".join(blamed)) if part]

    @property
    def document(self) -> Mapping[str, Any]:
        """Return the diagnosis document as untyped JSON data."""
        return self.diagnosis.document

    def polars(self) -> dict[str, pl.DataFrame]:
        """Return the tables as polars frames whose times are datetimes in UTC, not seconds as in `tables`."""
        return NamedTables({name: _with_datetimes(name, table) for name, table in self.tables.items()})

    def pandas(self) -> dict[str, Any]:
        """Return the tables as pandas frames backed by pyarrow, so that no dtype depends on the data.

        Times are datetimes in UTC.

        Raises:
            ModuleNotFoundError: the extra `pandas` is not installed.
        """
        try:
            for name in ("pandas", "pyarrow"):
                import_module(name)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(missing_extra(str(error.name), "pandas")) from error
        frames = self.polars().items()
        return NamedTables(
            {name: frame.to_pandas(use_pyarrow_extension_array=True) for name, frame in frames}
        )


def _without_names_of_tuples(names: Iterable[str]) -> list[str]:
    return sorted({*names} - {"count", "index"})


def _with_datetimes(name: str, table: pl.DataFrame) -> pl.DataFrame:
    import polars

    times = [column.name for column in TABLES[name] if column.type == "time"]
    microseconds = (polars.col(times) * 1e6).cast(polars.Int64, strict=False)
    return table.with_columns(microseconds.cast(polars.Datetime("us", "UTC"))) if times else table
