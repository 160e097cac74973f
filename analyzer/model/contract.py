"""The types of `reports/diagnosis.schema.json`; generated from it by `python docs/generate.py`."""

from typing import Any, Literal, NotRequired, TypedDict

Part = Literal["culprit", "suspect", "witness", "bystander"]
Retry = Literal["as_is", "after_fix", "exclude_host", "unknown"]
Owner = Literal["user_code", "data", "config", "platform", "hardware", "unknown"]
JsonNumber = float | Literal["NaN", "Infinity", "-Infinity"]


class NextStep(TypedDict):
    """The object at `step` of the document."""

    text: str
    command: str | None


class EvidencePlace(TypedDict):
    """The object at `evidence` of the document."""

    says: str
    kind: Literal["line", "absence", "fact", "value"]
    worker: str | None
    source: str | None
    line: int | None
    excerpt: str
    marks: list[list[int]]
    time: float | None
    signals: NotRequired[list[str]]
    context: list[list[Any]]


class RunSummary(TypedDict):
    """The object at `run` of the document."""

    name: str
    strategy: str | None
    workers_expected: int | None
    workers_seen: int
    tensorflow: list[str]
    started: float | None
    ended: float | None


class ActionTaken(TypedDict):
    """The object at `action` of the document."""

    retry: Retry
    owner: Owner
    exclude: list[str]
    resume_from: str | None
    steps_lost: int | None
    unless: NotRequired[str]
    checkpoint: NotRequired[Literal["earlier"]]
    host: NotRequired[Literal["watch"]]


class WorkerEnd(TypedDict):
    """The object at `workers[].ended` of the document."""

    how: Literal[
        "finished",
        "exception",
        "aborted_by_peer",
        "signal",
        "exited",
        "vanished",
        "stopped",
        "running",
        "never_started",
        "unknown",
    ]
    exit_code: int | None
    sure: bool
    says: str


class LastStep(TypedDict):
    """The object at `workers[].last_step` of the document."""

    epoch: int | None
    step: int | None


class PauseInterval(TypedDict):
    """The object at `workers[].pauses[]` of the document."""

    kind: Literal["compile", "checkpoint", "evaluation", "pause"]
    start: float
    end: float
    source: str


class DrawnCurve(TypedDict):
    """The object at `workers[].curves[]` of the document."""

    tag: str
    scope: Literal["global", "local", "unknown"]
    kept: int
    total: int
    points: list[list[Any]]


class WorkerReport(TypedDict):
    """The object at `workers[]` of the document."""

    id: str
    host: str | None
    claimed: str | None
    guessed: NotRequired[str]
    part: Part
    expected: bool
    seen: bool
    attempts: int
    ended: WorkerEnd
    last_step: LastStep
    last_seen: float | None
    pauses: NotRequired[list[PauseInterval]]
    sources: list[str]
    curves: list[DrawnCurve]


class ClockOffset(TypedDict):
    """The object at `clocks[]` of the document."""

    worker: str
    kind: Literal["log", "event_file"]
    basis: Literal["steps", "none"]
    steps: int
    offset: float | None
    residual: float | None
    shift: float | None


class BarrierArrivals(TypedDict):
    """The object at `barriers[]` of the document."""

    barrier: Literal["startup", "step", "checkpoint", "end"]
    place: str | None
    arrived: list[str]
    awaited: list[str]
    unknown: list[str]


class PossibleCause(TypedDict):
    """The object at `telling_lines[].possible[]` of the document."""

    cause: str
    confidence: float


class TellingLine(TypedDict):
    """The object at `telling_lines[]` of the document."""

    line: EvidencePlace
    means: str
    possible: list[PossibleCause]


class DecidingFile(TypedDict):
    """The one kind of file that would tell most where no rule explains the failure; else null."""

    kind: str
    what: str
    tells: str
    how: str


class FactDiff(TypedDict):
    """The object at `against.facts[]` of the document."""

    key: str
    label: str
    here: list[str]
    there: list[str]


class StepTimes(TypedDict):
    """Median seconds from one step to the next; null where no step is dated."""

    here: float | None
    there: float | None


class CurveDiff(TypedDict):
    """The object at `against.curves[]` of the document."""

    tag: str
    epoch: int | None
    step: int | None
    here: JsonNumber
    there: JsonNumber


class BaselineDiff(TypedDict):
    """What differs from a good run that was given to compare with; null where none was."""

    run: str
    facts: list[FactDiff]
    step_time: StepTimes
    curves: list[CurveDiff]
    lines: list[EvidencePlace]


class Alternative(TypedDict):
    """The object at `alternatives[]` of the document."""

    cause: str
    rule: str
    confidence: float
    culprits: list[str]
    against: str


class NearMiss(TypedDict):
    """The object at `near_misses[]` of the document."""

    rule: str
    title: str
    cause: str
    worker: str | None
    held: list[str]
    missing: str
    collect: str | None


class FindingReport(TypedDict):
    """The object at `findings[]` of the document."""

    rule: str
    title: str
    role: Literal["cause", "symptom", "context", "benign"]
    cause: str | None
    outcome: Literal["fired", "quiet", "not-applicable", "error"]
    reason: str
    lacks: str | None
    confidence: float
    workers: list[str]
    summary: str
    why: list[str]
    reckoned: NotRequired[list[str]]
    evidence: list[EvidencePlace]
    explained_by: list[str]
    contradicted_by: NotRequired[list[str]]
    collect: NotRequired[list[str]]
    references: list[str]


class RecipeCommand(TypedDict):
    """The object at `collect[].commands[]` of the document."""

    where: str
    command: str


class CollectRecipe(TypedDict):
    """The object at `collect[]` of the document."""

    kind: str
    what: str
    tells: str
    how: str
    commands: list[RecipeCommand]
    docs: str


class TimelineEvent(TypedDict):
    """The object at `timeline[]` of the document."""

    n: int
    time: float | None
    worker: str | None
    kind: Literal[
        "start",
        "server_up",
        "joined",
        "first_step",
        "last_step",
        "error",
        "accusation",
        "signal",
        "end",
        "silence",
        "checkpoint",
        "compile",
    ]
    text: str
    source: str | None
    line: int | None
    excerpt: NotRequired[str]


class TraceShares(TypedDict):
    """The object at `trace[]` of the document."""

    worker: str
    collectives: int
    step_time: float | None
    collective_share: float | None
    collective_seconds: float | None
    input_share: float | None
    delay_share: float | None
    delay_seconds: float | None
    last: bool
    times_last: NotRequired[int | None]
    caused_seconds: NotRequired[float | None]


class CollectiveCall(TypedDict):
    """The object at `collectives[]` of the document."""

    name: str
    step: int | None
    nth: int
    workers: int
    last: str
    waited: float


class XprofQuote(TypedDict):
    """The object at `xprof[]` of the document."""

    source: str
    worker: str | None
    says: list[str]
    steps: int
    step_time: float | None
    input_share: float | None
    problem: str


class FactValues(TypedDict):
    """The object at `facts[]` of the document."""

    key: str
    label: str
    equal: bool
    values: dict[str, str | bool]


class SourceReport(TypedDict):
    """The object at `sources[]` of the document."""

    name: str
    kind: str
    worker: str | None
    attempt: int
    bytes: int
    lines: int | None
    first_time: float | None
    last_time: float | None
    read: Literal["complete", "partial", "skipped"]
    reason: str
    thinned: NotRequired[str]


class DamagedRange(TypedDict):
    """The object at `damage[]` of the document."""

    source: str
    offset: int | None
    length: int | None
    line: int | None
    what: str


class RulePackUsed(TypedDict):
    """The object at `made_with.packs[]` of the document."""

    name: str
    version: str | None
    digest: str


class MadeWith(TypedDict):
    """The object at `made_with` of the document."""

    mwms_analyze: str
    rules: int
    rules_digest: str
    packs: NotRequired[list[RulePackUsed]]
    options: dict[str, str]
    versions: NotRequired[dict[str, str]]
    command: NotRequired[str]


class DiagnosisDocument(TypedDict):
    """What mwms-analyze found out about one run. Every renderer is a function of this document alone."""

    schema: Literal["mwms-diagnosis/1"]
    run: RunSummary
    verdict: Literal["healthy", "degraded", "failed", "inconclusive"]
    cause: str | None
    rule: str | None
    confidence: float
    culprits: list[str]
    suspects: list[str]
    witnesses: list[str]
    summary: str
    why: list[str]
    next: list[NextStep]
    action: ActionTaken
    fingerprint: str
    workers: list[WorkerReport]
    clocks: NotRequired[list[ClockOffset]]
    barriers: NotRequired[list[BarrierArrivals]]
    last_words: list[EvidencePlace]
    odd_lines: NotRequired[list[EvidencePlace]]
    telling_lines: NotRequired[list[TellingLine]]
    deciding_file: NotRequired[DecidingFile | None]
    against: NotRequired[BaselineDiff | None]
    alternatives: list[Alternative]
    near_misses: NotRequired[list[NearMiss]]
    findings: list[FindingReport]
    collect: list[CollectRecipe]
    timeline: list[TimelineEvent]
    events_left_out: int
    trace: NotRequired[list[TraceShares]]
    collectives: NotRequired[list[CollectiveCall]]
    collectives_left_out: NotRequired[int]
    xprof: NotRequired[list[XprofQuote]]
    facts: list[FactValues]
    sources: list[SourceReport]
    damage: list[DamagedRange]
    made_with: MadeWith
