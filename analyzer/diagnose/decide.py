"""Decides the verdict from the findings and from how the job ended."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import reduce
from typing import NamedTuple

import polars as pl

from analyzer.diagnose.explanations import apart_from_training, precedence
from analyzer.diagnose.wording import how_it_ended
from analyzer.model.budget import BEYOND_BUDGET
from analyzer.model.findings import LEVELS, Finding, Outcome, Role, Verdict
from analyzer.model.log_layout import UNREAD_LAYOUT
from analyzer.model.run import Tables
from analyzer.model.task_names import is_kernel_log, listed

_DOUBTED = (0.78, 0.6)
"""Highest confidence of a healthy verdict contradicted by one observation, and by several."""
_FINISHED = 0.95
"""Confidence of a healthy verdict if the files show how every training worker ended."""
_INFERRED = 0.75
"""Confidence of a healthy verdict if the end of a training worker is inferred."""
_NOT_SEEN_TO_LEARN = LEVELS["likely"]
"""Highest confidence of a healthy verdict if no value in the files shows that the model learned.

Of 286 finished jobs that were labelled before they were analyzed, 92 of 100 were healthy where a training
loss was read, 55 of 100 where none was, and half where the last loss was not below the first.
"""
_SHORT_OF_PLAN = LEVELS["possible"]
"""Highest confidence of a healthy verdict if a worker ended before its planned end, and no line says why."""
_LOCAL_DEVICES = r"Using MirroredStrategy with devices \([^()]*/job:localhost/"
_SIGTERM = 15
_BROKEN = ("exception", "aborted_by_peer", "signal", "vanished")
_CAP_GUESSED = 0.85
"""Highest confidence if the index of a culprit is guessed.

It stays below 0.9, the confidence from which nine in ten verdicts name the right cause and culprit: here
the cause is known, but not the worker's index.
"""
_CAP_MISFILED = LEVELS["possible"]
"""Highest confidence if the log of a culprit may be of another worker or of another job."""
_CAP_OLD = LEVELS["likely"]
"""Highest confidence for TensorFlow before 2.4, for which there are no recorded runs."""
_CAP_OTHER = LEVELS["possible"]
"""Highest confidence for logs of another framework, whose messages no rule knows."""
_CAP_UNREAD = LEVELS["possible"]
"""Highest confidence if the budget left files out: they may hold an earlier or another failure."""

_CAP_UNREADABLE = LEVELS["likely"]
"""Highest confidence if the log of a worker cannot be read: it may show an earlier failure."""

_CAP_LAYOUT = LEVELS["possible"]
"""Highest confidence if a log has a form that is not known: what it says is hardly read."""


class Decision(NamedTuple):
    """The verdict and its cause; `chosen` is the finding that the verdict rests on, None without one."""

    verdict: Verdict
    cause: str | None
    confidence: float
    chosen: Finding | None = None
    rejected: tuple[tuple[Finding, str], ...] = ()
    """Cause findings that were not chosen, each with the reason."""
    doubts: tuple[str, ...] = ()
    """Sentences that contradict a verdict of healthy, except those of context findings, which are notes."""
    limit: str = ""
    """Sentence that says why a verdict of healthy is not more certain; empty if nothing is against it."""


def decide(findings: Sequence[Finding], tables: Tables) -> Decision:
    """Return the verdict of the most certain cause that no other finding explains.

    Without such a cause, the verdict follows from how the workers ended.
    """
    causes = [f for f in findings if f.outcome is Outcome.FIRED and f.role is Role.CAUSE]
    causes.sort(key=lambda f: (apart_from_training(f), f.verdict is not Verdict.FAILED, *precedence(f)))
    related = (f for f in causes if not (f.explained_by or f.contradicted_by))
    broken = _training_broke(tables)
    possible = (f for f in related if not overtaken(f, tables) and not (broken and apart_from_training(f)))
    chosen = next(possible, None)
    rejected = tuple((f, _why_rejected(f, chosen, tables)) for f in causes if f is not chosen)
    if chosen is None:
        return _without_cause(tables, findings, rejected)
    trained = apart_from_training(chosen) and tables["job"]["all_finished"][0]
    trained = trained or finished_without(chosen, tables)
    verdict = Verdict.DEGRADED if trained else chosen.verdict
    return Decision(verdict, chosen.cause, chosen.confidence, chosen, rejected)


def capped(
    findings: Sequence[Finding], decision: Decision, tables: Tables
) -> tuple[Sequence[Finding], Decision]:
    """Return findings and decision with the confidence capped where the run leaves a doubt.

    Doubtful are a guessed culprit, a culprit's log that may be another's, TensorFlow before 2.4, files that
    the budget left out, and logs that cannot be read. The chosen cause stays. A culprit becomes a suspect if
    its log was left out or may be another's, or if it is guessed from the only log of what may be several.
    """
    workers, caps, unread = tables["workers"], list(_caps(tables)), _workers_beyond_budget(tables)
    of_several = not _is_one_process(tables)
    guessed = set(workers.filter(pl.col("guessed").is_not_null() & of_several)["worker"])
    misfiled = dict(workers.filter(pl.col("doubted").is_not_null()).select("worker", "doubt").iter_rows())
    doubtful = misfiled.keys() | (unread | guessed if workers["seen"].sum() == 1 else unread)

    def cap(finding: Finding) -> Finding:
        unsure = [worker for worker in finding.culprits if worker in guessed]
        own = [(_CAP_GUESSED, f"the index of {unsure[0]} is guessed")] if unsure else []
        own += [(_CAP_MISFILED, misfiled[worker]) for worker in finding.culprits[:1] if worker in misfiled]
        if not doubtful.isdisjoint(finding.culprits):
            finding = finding._replace(culprits=(), suspects=finding.culprits + finding.suspects)
        return reduce(_at_most, [*own, *caps], finding)

    chosen = cap(decision.chosen) if decision.chosen else None
    confidence = min([decision.confidence, *(most for most, _ in caps)])
    return [cap(each) for each in findings], decision._replace(
        chosen=chosen,
        confidence=chosen.confidence if chosen else confidence,
        rejected=tuple((cap(each), against) for each, against in decision.rejected),
    )


def _is_one_process(tables: Tables) -> bool:
    """Return True if the job is one process by TensorFlow's own line: then it is no guess which failed.

    `MirroredStrategy` names the devices that it uses; those of a process without a cluster are local ones.
    """
    facts = tables["facts"]
    keys = ("cluster_spec", "server_address", "num_workers", "several_workers")
    local = facts.filter(pl.col("excerpt").str.contains(_LOCAL_DEVICES), key="strategy").height > 0
    return tables["workers"].height == 1 and local and not facts["key"].is_in(keys).any()


def _caps(tables: Tables) -> Iterator[tuple[float, str]]:
    """Yield (highest confidence, reason) for what makes every finding less sure."""
    unread = (pl.col("read") == "skipped") & pl.col("reason").str.starts_with("cannot be read")
    closed = tables["sources"].filter(unread, kind="log")["source"]
    if not closed.is_empty():
        yield _CAP_UNREADABLE, f"{closed[0]} cannot be read"
    if hardly := _logs_of_unread_layout(tables):
        yield _CAP_LAYOUT, f"{hardly[0]} has an unknown layout"
    if old := tables["job"]["old_tensorflow"].item():
        yield _CAP_OLD, f"TensorFlow before 2.4 is read with less confidence ({old})"
    if other := tables["job"]["other_framework"].item():
        yield _CAP_OTHER, f"logs of another framework ({other})"
    if (logs := tables["sources"].filter(kind="log")["source"].to_list()) and all(map(is_kernel_log, logs)):
        yield _CAP_MISFILED, "only a kernel log, which also covers other jobs"
    of_jobs = pl.col("doubted").is_in(["job", "several"])
    if other_jobs := tables["workers"].filter(of_jobs)["doubt"].to_list():
        yield _CAP_MISFILED, other_jobs[0]
    if _workers_beyond_budget(tables):
        yield _CAP_UNREAD, "files were left out"


def _logs_of_unread_layout(tables: Tables) -> Sequence[str]:
    """Return the logs of unreadable layout: those of workers, and others if no log could be read."""
    hardly = tables["damage"].filter(what=UNREAD_LAYOUT)["source"]
    logs = tables["sources"].filter(kind="log")
    found = logs.filter(pl.col("source").is_in(hardly.to_list()))
    counting = found if found.height == logs.height else found.drop_nulls("worker")
    return counting["source"].to_list()


def _at_most(finding: Finding, cap: tuple[float, str]) -> Finding:
    most, reason = cap
    if finding.confidence <= most:
        return finding
    why = f"at most {most:.2f}, for {reason}"
    return finding._replace(confidence=most, confidence_trace=(*finding.confidence_trace, why))


def _workers_beyond_budget(tables: Tables) -> set[str | None]:
    """Return the workers whose files exceeded the budget and were not read; None is an unknown worker."""
    left_out = beyond_budget(tables)["source"].to_list()
    return set(tables["sources"].filter(pl.col("source").is_in(left_out))["worker"])


def beyond_budget(tables: Tables) -> pl.DataFrame:
    """Return the rows of `damage` that are due to the budget of the run."""
    return tables["damage"].filter(pl.col("what").str.contains(BEYOND_BUDGET, literal=True))


def finished_without(finding: Finding, tables: Tables) -> bool:
    """Return True if the job finished although the workers of the finding had raised before their first step.

    With parameter servers, the other workers do not wait for them. An exception that a worker only got from
    its peers as they ended does not count.
    """
    about = [*finding.culprits, *finding.suspects, *finding.about]
    lives = tables["lifetimes"].filter(~pl.col("trains"), pl.col("worker").str.starts_with("worker:"))
    failed = lives.filter(pl.col("own_exception"), ended="exception")["worker"].to_list()
    return bool(about) and {*about} <= {*failed} and bool(tables["job"]["all_finished"][0])


def overtaken(finding: Finding, tables: Tables) -> bool:
    """Return True if the finding claims a failure, but all training workers finished afterwards.

    Findings about nothing but evaluators stand, because these take no part in the training.
    """
    if finding.despite_finish or apart_from_training(finding) or finished_without(finding, tables):
        return False
    return finding.verdict is Verdict.FAILED and bool(tables["job"]["all_finished"][0])


def _why_rejected(finding: Finding, chosen: Finding | None, tables: Tables) -> str:
    if apart_from_training(finding) and _training_broke(tables):
        return "An evaluator takes no part in training, which failed as well."
    if overtaken(finding, tables):
        return "Every training worker reached its planned end afterwards."
    if finding.explained_by:
        return f"It follows from what {' and '.join(finding.explained_by[:2])} found."
    if finding.contradicted_by:
        return f"It cannot be true together with what {' and '.join(finding.contradicted_by[:2])} found."
    if chosen and finding.verdict is not chosen.verdict:
        return "It does not end a job, so the failure has another cause."
    if chosen and finding.confidence == chosen.confidence:
        return "It is as likely, but says less about how the failure began."
    return "The evidence for it is weaker."


def _without_cause(
    tables: Tables, findings: Sequence[Finding], rejected: tuple[tuple[Finding, str], ...]
) -> Decision:
    """Return the verdict where no cause is known: healthy, failed or inconclusive, by the workers' ends."""
    lives = tables["lifetimes"].filter("trains")
    if tables["job"]["all_finished"][0] and not _logs_of_unread_layout(tables):
        refuting, crashed = list(_refuting(findings)), list(_ended_badly(tables["lifetimes"]))
        against = [*refuting, *crashed]
        inferred = lives.filter(~pl.col("sure"))
        short = stopped_short(lives)
        learned = _learned(tables["curves"])
        sure = _SHORT_OF_PLAN if short else _INFERRED if inferred.height else _FINISHED
        sure = sure if learned else min(sure, _NOT_SEEN_TO_LEARN)
        confidence = min(sure, _DOUBTED[len(against) > 1]) if against else sure
        speaking = [f.summary for f in refuting] + crashed
        limit = _limit(confidence, inferred, speaking, short=short, learned=learned)
        doubts = (*(f.summary for f in refuting if f.role is not Role.CONTEXT), *crashed)
        return Decision(Verdict.HEALTHY, "healthy", confidence, None, rejected, doubts, limit)
    if _training_broke(tables) or stated_failure(tables["facts"]) or _ends_in_traceback(tables):
        return Decision(Verdict.FAILED, "unknown", 0.0, rejected=rejected)
    return Decision(Verdict.INCONCLUSIVE, None, 0.0, rejected=rejected)


def _training_broke(tables: Tables) -> bool:
    """Return True if a training worker ended badly."""
    lives = tables["lifetimes"].filter("trains")
    bad_exit = (pl.col("exit_code") > 0).fill_null(value=False)
    return not lives.filter(bad_exit | pl.col("ended").is_in(_BROKEN)).is_empty()


def _ends_in_traceback(tables: Tables) -> bool:
    """Return True if a log that several workers wrote without labels ends in a traceback.

    What a launcher adds below does not count.
    """
    facts, records = tables["facts"], tables["records"]
    mixed = facts.filter(key="several_workers")["source"].to_list()
    if not mixed:
        return False
    of_launcher = facts.filter(key="slurm").select("source", "line")
    own = records.filter(pl.col("source").is_in(mixed)).join(of_launcher, on=["source", "line"], how="anti")
    last = own.sort("line").group_by("source").last()
    raised = tables["exceptions"]["source"]
    return not last.filter(pl.col("source").is_in(raised.to_list()), kind="traceback").is_empty()


def stated_failure(facts: pl.DataFrame) -> str:
    """Return a sentence of the scheduler's that the job failed by itself; empty if it states none."""
    of_job = facts.filter(pl.col("worker").is_null(), key="job_state").tail(1)
    if of_job["value"].to_list() != ["FAILED"]:
        return ""
    ((source, line),) = of_job.select("source", "line").rows()
    code = facts.filter(source=source, line=line, key="job_exit_code")["value"].to_list()
    exited = f" with exit code {code[0]}" if code else ""
    return f"The scheduler reports that the job failed{exited} ({source}{f':{line}' if line else ''})."


def stopped_short(lives: pl.DataFrame) -> bool:
    """Return True if all training workers ended well long before their planned end, and no log says why."""
    return lives.height > 0 and bool(lives["left_short"].all(ignore_nulls=False))


def _learned(curves: pl.DataFrame) -> bool:
    """Return True if a loss, an error or a score in the files became clearly better in training."""
    return bool(curves["improved"].fill_null(value=False).any())


def _limit(
    confidence: float, inferred: pl.DataFrame, against: Sequence[str], *, short: bool, learned: bool
) -> str:
    """Return why a verdict of healthy is not more certain; empty without a reason in the files."""
    has_code = pl.col("exit_code").is_not_null()
    unseen, exited = (inferred.filter(each)["worker"].to_list() for each in (~has_code, has_code))
    reasons = [f"no exit code or closing line shows the end of {listed(unseen)}"] if unseen else []
    if exited and not short:
        reasons += [f"{listed(exited)} exited with code 0, and no line shows that all steps were done"]
    if short:
        reasons += ["the plan was longer, and no line says that the training was done or why it stopped"]
    if not learned:
        reasons += ["no loss or metric in the files shows that the model learned"]
    reasons += [f"“{each.rstrip('.')}” speaks against it" for each in against[:1]]
    return f"The confidence is only {100 * confidence:.0f} %: {'; '.join(reasons)}." if reasons else ""


def _refuting(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings whose rules declare that they contradict `healthy`."""
    for finding in findings:
        fired = finding.outcome is Outcome.FIRED and finding.role is not Role.BENIGN
        if fired and any(fnmatchcase("healthy", pattern) for pattern in finding.contradicts):
            yield finding


def _ended_badly(lifetimes: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each non-training task that failed; SIGTERM is an evaluator's normal end."""
    for life in lifetimes.filter(~pl.col("trains")).iter_rows(named=True):
        crashed = life["ended"] == "signal" and life["signal"] != _SIGTERM
        if crashed or life["ended"] == "exception" or (life["ended"] == "exited" and life["exit_code"]):
            yield f"{life['worker']} {how_it_ended(life)}."
