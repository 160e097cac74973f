"""Findings: the results of rules on a run, with their evidence."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

LEVELS: Mapping[str, float] = MappingProxyType(
    {"weak": 0.4, "possible": 0.6, "likely": 0.78, "strong": 0.9, "certain": 0.97}
)
"""Confidence level → share of diagnoses at this level that should be right; see docs/scoreboard.md."""


def level(name: str) -> str:
    """Format a confidence level with its percentage: `strong (90 %)`."""
    return f"{name} ({LEVELS[name] * 100:.0f} %)"


class Role(StrEnum):
    """How a finding relates to the failure: its cause, a symptom, context, or benign."""

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
    """What supports a finding: a line of one of the user's files, or the fact that something is missing.

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
    signals: tuple[str, ...] = ()
    """The rule's signals for which this is the evidence."""


class Step(NamedTuple):
    """A next step, with a command to paste if there is one."""

    text: str
    command: str | None = None


class Action(NamedTuple):
    """What to do with the job: whether to restart it, and who must fix it.

    `unless` is the condition under which the job must not be restarted unchanged; the signal `ruled_out_by`
    shows that it does not hold. `host` is `watch` if a repeated failure makes the host suspect, `checkpoint`
    is `earlier` if the last one may be damaged.
    """

    retry: str = "unknown"
    owner: str = "unknown"
    unless: str = ""
    ruled_out_by: str = ""
    host: str = ""
    checkpoint: str = ""


class MissingSignal(NamedTuple):
    """The only signal that kept a rule from firing for a worker."""

    worker: str
    """Empty if the rule is about the whole job."""
    held: tuple[str, ...]
    missing: str
    table: str
    """The table that the missing signal queries."""
    columns: tuple[str, ...] = ()
    """The columns that the missing signal tests."""
    telling: bool = True
    """Whether a signal that held reads a line or a measurement, not only how far the workers came."""


class Finding(NamedTuple):
    """The result of one rule on a run."""

    rule: str
    title: str
    role: Role
    outcome: Outcome
    cause: str | None = None
    reason: str = ""
    lacks: str | None = None
    """The missing kind of source that makes the rule not applicable."""
    verdict: Verdict = Verdict.FAILED
    confidence: float = 0.0
    culprits: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """The workers that the finding is about."""
    summary: str = ""
    why: tuple[str, ...] = ()
    next: tuple[Step, ...] = ()
    action: Action = Action()
    evidence: tuple[Evidence, ...] = ()
    explains: tuple[str, ...] = ()
    explained_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    """Patterns of the rules and causes that cannot be true together with this finding."""
    contradicted_by: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    """What to collect next time for a more certain finding, in words."""
    despite_finish: bool = False
    """Whether the finding counts even if every worker finished its training."""
    references: tuple[str, ...] = ()
    confidence_trace: tuple[str, ...] = ()
    """The base confidence and each adjustment of it, in words."""
    near: MissingSignal | None = None
    """Set only if the rule is quiet for lack of a single signal."""
