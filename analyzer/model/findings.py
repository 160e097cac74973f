"""Findings: the results of rules on a run, with their evidence."""

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The part of a finding in the failure; exactly one."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    CONTEXT = "context"
    BENIGN = "benign"


class Outcome(StrEnum):
    """Result of evaluating a rule on a run."""

    FIRED = "fired"
    QUIET = "quiet"
    NOT_APPLICABLE = "not-applicable"
    ERROR = "error"


class Verdict(StrEnum):
    """The result of the job."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


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
    """A next step, with a command to paste if there is one."""

    text: str
    command: str | None = None


class Action(NamedTuple):
    """The consequence for the job: may it be restarted, and who must fix it.

    `unless` is the condition under which it must not be restarted as it is; `host` is `watch` where the host
    becomes suspect if it happens there again; `checkpoint` is `earlier` where the last may hold the damage.
    """

    retry: str = "unknown"
    owner: str = "unknown"
    unless: str = ""
    host: str = ""
    checkpoint: str = ""


class MissingSignal(NamedTuple):
    """The only signal that kept a rule from firing for a worker."""

    worker: str
    """Empty where the rule speaks of the whole job."""
    held: tuple[str, ...]
    missing: str
    table: str
    """Where the missing signal is looked for."""
    columns: tuple[str, ...] = ()
    """The columns that it asks for."""


class Finding(NamedTuple):
    """The result of one rule on a run."""

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
    confidence_trace: tuple[str, ...] = ()
    """How its confidence came about, step by step."""
    near: MissingSignal | None = None
    """Set for a quiet rule that lacked a single signal."""
