"""The types of `reports/diagnosis.schema.json`; generated from it by `python docs/generate.py`."""

from typing import Any, Literal, NotRequired, TypedDict

Part = Literal["culprit", "suspect", "witness", "bystander"]
Retry = Literal["as_is", "after_fix", "exclude_host", "unknown"]
Owner = Literal["user_code", "data", "config", "platform", "hardware", "unknown"]
JsonNumber = float | Literal["NaN", "Infinity", "-Infinity"]


class NextStep(TypedDict):
    """A next step for the user, with a command if there is one."""

    text: str
    command: str | None


class EvidencePlace(TypedDict):
    """A place in the run's files that supports a finding, or the absence of something."""

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
    """The run: its name, TensorFlow versions, strategy, and expected and seen workers."""

    name: str
    strategy: str | None
    workers_expected: int | None
    workers_seen: int
    tensorflow: list[str]
    started: float | None
    ended: float | None


class Restart(TypedDict):
    """The object at `action.restart` of the document."""

    scheduler: Literal["slurm", "kubernetes"]
    text: str


class ActionTaken(TypedDict):
    """Advice on the job: whether to restart it, who must fix it, and where to resume."""

    retry: Retry
    owner: Owner
    exclude: list[str]
    resume_from: str | None
    steps_lost: int | None
    unless: NotRequired[str]
    checkpoint: NotRequired[Literal["earlier"]]
    host: NotRequired[Literal["watch"]]
    restart: NotRequired[Restart]


class EarlierRuns(TypedDict):
    """The object at `history` of the document."""

    skipped: NotRequired[str]
    runs: NotRequired[int]
    of: NotRequired[int]
    first: NotRequired[str | None]
    last: NotRequired[str | None]
    same_host: NotRequired[int]


class WorkerEnd(TypedDict):
    """How the last attempt of a worker ended."""

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
    """The last position in training that a worker showed."""

    epoch: int | None
    step: int | None


class PauseInterval(TypedDict):
    """An interval in which a worker made no step, in seconds since 1970-01-01 UTC."""

    kind: Literal["compile", "checkpoint", "evaluation", "pause"]
    start: float
    end: float
    source: str


class DrawnReading(TypedDict):
    """Dated readings of a worker's machine, thinned to the highest of each stretch."""

    tag: str
    kept: int
    total: int
    points: list[list[Any]]


class DrawnCurve(TypedDict):
    """Values of one metric of a worker, thinned to `kept` of `total` points."""

    tag: str
    scope: Literal["global", "local", "unknown"]
    kept: int
    total: int
    axis: NotRequired[Literal["epoch"]]
    exploded_at: NotRequired[int]
    points: list[list[Any]]


class WorkerReport(TypedDict):
    """One worker: how it ended, its last step, its pauses, sources and curves."""

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
    startup_seen: NotRequired[bool]
    last_seen: float | None
    pauses: NotRequired[list[PauseInterval]]
    sources: list[str]
    readings: NotRequired[list[DrawnReading]]
    curves: list[DrawnCurve]


class ClockOffset(TypedDict):
    """Offset of one clock of a worker from the clocks of its peers."""

    worker: str
    kind: Literal["log", "event_file"]
    basis: Literal["steps", "none"]
    steps: int
    offset: float | None
    residual: float | None
    shift: float | None


class BarrierArrivals(TypedDict):
    """One point where all training workers had to meet, with the workers that arrived."""

    barrier: Literal["startup", "step", "checkpoint", "end"]
    place: str | None
    arrived: list[str]
    awaited: list[str]
    unknown: list[str]


class PossibleCause(TypedDict):
    """A cause that a log line indicates, with the confidence in it."""

    cause: str
    means: NotRequired[str]
    confidence: float


class TellingLine(TypedDict):
    """A log line that may explain the failure, with its usual meaning and possible causes."""

    line: EvidencePlace
    means: str
    possible: list[PossibleCause]


class DecidingFile(TypedDict):
    """The kind of file that would help most to explain a failure that no rule explains; else null."""

    kind: str
    what: str
    tells: str
    how: str


class FactDiff(TypedDict):
    """A fact whose values differ between this run (`here`) and the good run (`there`)."""

    key: str
    label: str
    here: list[str]
    there: list[str]


class StepTimes(TypedDict):
    """Median seconds from one step to the next, of both runs; null if the steps have no times."""

    here: float | None
    there: float | None


class CurveDiff(TypedDict):
    """Values of one metric that differ between this run (`here`) and the good run (`there`)."""

    tag: str
    epoch: int | None
    step: int | None
    here: JsonNumber
    there: JsonNumber


class BaselineDiff(TypedDict):
    """Differences from the good run of `--against`; null without one."""

    run: str
    verdict: NotRequired[Literal["healthy", "failed", "degraded", "inconclusive"]]
    cause: NotRequired[str | None]
    facts: list[FactDiff]
    step_time: StepTimes
    curves: list[CurveDiff]
    lines: list[EvidencePlace]


class Alternative(TypedDict):
    """Another possible cause, with what contradicts it."""

    cause: str
    rule: str
    confidence: float
    culprits: list[str]
    against: str


class NearMiss(TypedDict):
    """A rule that did not fire because a single signal was missing."""

    rule: str
    title: str
    cause: str
    worker: str | None
    held: list[str]
    missing: str
    collect: str | None


class FindingReport(TypedDict):
    """The result of one rule on the run."""

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
    """A command that collects a source on one platform."""

    where: str
    command: str


class CollectRecipe(TypedDict):
    """How to collect one kind of source that the run lacks."""

    kind: str
    what: str
    tells: str
    how: str
    commands: list[RecipeCommand]
    docs: str


class TimelineEvent(TypedDict):
    """One event of the job, with the line that shows it."""

    n: int
    time: float | None
    after: NotRequired[float]
    before: NotRequired[float]
    worker: str | None
    kind: Literal[
        "start",
        "server_up",
        "joined",
        "first_step",
        "last_step",
        "nonfinite",
        "exploded",
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
    """Shares of the traced time that one worker spent in collectives, on input, and as a straggler."""

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
    """One collective call, with the worker that entered it last."""

    name: str
    step: int | None
    nth: int
    workers: int
    last: str
    waited: float


class XprofQuote(TypedDict):
    """XProf's statements on one trace."""

    source: str
    worker: str | None
    says: list[str]
    steps: int
    step_time: float | None
    input_share: float | None
    problem: str


class FactValues(TypedDict):
    """The values of one fact, by worker."""

    key: str
    label: str
    equal: bool
    values: dict[str, str | bool]


class SourceReport(TypedDict):
    """One source of the run: how much of it was read, and why not all of it."""

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
    """A part of a source that could not be read."""

    source: str
    offset: int | None
    length: int | None
    line: int | None
    what: str


class RulePackUsed(TypedDict):
    """A directory of rules that the analysis used."""

    name: str
    version: str | None
    digest: str


class MadeWith(TypedDict):
    """Version, rules, options and command line of the analysis."""

    mwms_analyze: str
    rules: int
    rules_digest: str
    packs: NotRequired[list[RulePackUsed]]
    options: dict[str, str]
    versions: NotRequired[dict[str, str]]
    command: NotRequired[str]


class DiagnosisDocument(TypedDict):
    """The diagnosis of one run. Every renderer is a function of this document alone."""

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
    history: NotRequired[EarlierRuns]
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
