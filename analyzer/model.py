"""The nouns: what the stages hand to one another. Frozen, without behaviour beyond naming."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from analyzer.kinds import Kind

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import polars as pl

Tables: TypeAlias = "Mapping[str, pl.DataFrame]"
"""Table name (see `schema.TABLES`) to frame."""


class Role(StrEnum):
    """What a finding is to the failure; exactly one."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    CONTEXT = "context"
    BENIGN = "benign"


class Outcome(StrEnum):
    """What became of a rule on a run."""

    FIRED = "fired"
    QUIET = "quiet"
    NOT_APPLICABLE = "not-applicable"
    ERROR = "error"


class Verdict(StrEnum):
    """What became of the job."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


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


class Evidence(NamedTuple):
    """A place in the user's own files, or the absence of something from a source.

    `kind` is `line`, `fact`, `value` or `absence`; `marks` are half-open character ranges of `excerpt`;
    `time` is in seconds since the epoch.
    """

    says: str
    kind: str
    worker: str | None = None
    source: str | None = None
    line: int | None = None
    excerpt: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    time: float | None = None
    context: tuple[tuple[int, str], ...] = ()
    """Numbered lines of the same source just before it."""
    signals: tuple[str, ...] = ()
    """The signals of the rule that it makes true."""


class Step(NamedTuple):
    """One thing to do next, with the command to paste where there is one."""

    text: str
    command: str | None = None


class Action(NamedTuple):
    """What follows for the job: may it be restarted, and whose is it to mend."""

    retry: str = "unknown"
    owner: str = "unknown"


class Near(NamedTuple):
    """That a rule would have fired for a worker, had one more of its signals held."""

    worker: str
    """Empty where the rule speaks of the whole job."""
    held: tuple[str, ...]
    missing: str
    table: str
    """Where the missing signal is looked for."""
    columns: tuple[str, ...] = ()
    """The columns that it asks for."""


class Finding(NamedTuple):
    """A rule's result on a run."""

    rule: str
    title: str
    role: Role
    outcome: Outcome
    cause: str | None = None
    reason: str = ""
    lacks: str | None = None
    """The kind of source for want of which it is not applicable."""
    verdict: Verdict = Verdict.FAILED
    confidence: float = 0.0
    culprits: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """The workers that it speaks of."""
    summary: str = ""
    why: tuple[str, ...] = ()
    next: tuple[Step, ...] = ()
    action: Action = Action()
    evidence: tuple[Evidence, ...] = ()
    explains: tuple[str, ...] = ()
    explained_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    """Rules and causes that cannot be true together with it, as patterns."""
    contradicted_by: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    """What would have made it surer."""
    despite_finish: bool = False
    """It stands even where every worker reached the planned end."""
    references: tuple[str, ...] = ()
    reckoned: tuple[str, ...] = ()
    """How its confidence came about, step by step."""
    near: Near | None = None
    """Of one that stayed quiet: how nearly it fired."""


class Diagnosis(NamedTuple):
    """The findings, ordered: what explains what, what came first, what is still unexplained.

    `document` is the output contract, `reports/diagnosis.schema.json`.
    """

    document: Mapping[str, Any]

    @property
    def verdict(self) -> Verdict:
        """What became of the job."""
        return Verdict(self.document["verdict"])


class Run(NamedTuple):
    """A run as a notebook has it: every table of docs/tables.md by name, and the diagnosis."""

    name: str
    tables: Tables
    diagnosis: Diagnosis

    def pandas(self) -> dict[str, Any]:
        """The tables as pandas frames.

        Raises:
            ModuleNotFoundError: the extra `pandas` is not installed.

        """
        made = import_module("pandas").DataFrame  # here, for nothing but a notebook needs it
        return {name: made(table.to_dict(as_series=False)) for name, table in self.tables.items()}
