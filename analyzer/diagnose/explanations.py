"""Determines which findings explain each other and which contradict each other."""

import math
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from analyzer.model.findings import Finding, Outcome, Role
from analyzer.model.task_names import split_task

_SYMPTOMS = ("peer.", "hang.")
"""Prefixes of causes that describe only how a failure looked to other workers."""
_CLOCKS_AGREE, _CLOCKS_DIFFER = 1.0, 600.0
"""Seconds between lines of two hosts: less may be their clocks' error, more their time zones."""


def relate(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with `explained_by` and `contradicted_by` filled in."""
    fired = [finding for finding in findings if finding.outcome is Outcome.FIRED]
    return [
        finding._replace(
            explained_by=tuple(other.rule for other in fired if _explains(other, finding)),
            contradicted_by=tuple(other.rule for other in fired if _contradicts(other, finding)),
        )
        if finding.outcome is Outcome.FIRED
        else finding
        for finding in findings
    ]


def _explains(cause: Finding, effect: Finding) -> bool:
    """Return True if `cause` explains `effect`; if each claims the other, the one with precedence does."""
    if cause.rule == effect.rule or cause.role is not Role.CAUSE or not _named(effect, cause.explains):
        return False
    if apart_from_training(cause) and not apart_from_training(effect):
        return False
    if _failed_before(effect, cause):
        return False
    return _goes_first(cause, effect) if _named(cause, effect.explains) else True


def _failed_before(effect: Finding, cause: Finding) -> bool:
    """Return True if a worker raised an exception before the one that `cause` is about failed.

    Of other causes, the first line may come of a worker that suffered from it.
    """
    blamed = {*cause.culprits, *cause.suspects, *cause.about}
    failed = {*effect.culprits, *effect.suspects}
    others = failed - blamed
    if effect.cause != "user.exception" or not blamed or not others:
        return False
    began, earlier = _began(cause, blamed), _began(effect, others)
    return began is not None and earlier is not None and _CLOCKS_AGREE < began - earlier < _CLOCKS_DIFFER


def _began(finding: Finding, workers: Collection[str]) -> float | None:
    """Return the time of the first line that the finding cites of some workers; None if unknown."""
    return next((place.time for place in finding.evidence if place.worker in workers), None)


def apart_from_training(finding: Finding) -> bool:
    """Return True if a finding is about evaluators only, and its cause is no configuration of the cluster.

    What befalls an evaluator does not reach the training, unless the others wait for it to connect.
    """
    about = {*finding.culprits, *finding.suspects, *finding.about}
    of_cluster = (finding.cause or "").startswith("config.")
    return bool(about) and not of_cluster and all(split_task(each)[0] == "evaluator" for each in about)


def _contradicts(finding: Finding, other: Finding) -> bool:
    """Return True if one of the two rules contradicts the other and `finding` has precedence."""
    if finding.rule == other.rule:
        return False
    declared = _named(other, finding.contradicts) or _named(finding, other.contradicts)
    return declared and _goes_first(finding, other)


def precedence(finding: Finding) -> tuple[float, bool, int, float, str]:
    """Return the sort key of a finding; higher confidence sorts first.

    At equal confidence, root causes sort before symptoms (`peer.`, `hang.`), named workers before unnamed
    ones, and earlier evidence before later.
    """
    unnamed = 0 if finding.culprits else 1 if finding.suspects else 2
    began = min((place.time for place in finding.evidence if place.time is not None), default=math.inf)
    return (-finding.confidence, (finding.cause or "").startswith(_SYMPTOMS), unnamed, began, finding.rule)


def _goes_first(finding: Finding, other: Finding) -> bool:
    return precedence(finding) < precedence(other)


def _named(finding: Finding, patterns: Sequence[str]) -> bool:
    """Return True if one of the glob patterns matches the rule or the cause of a finding."""
    targets = (finding.rule, finding.cause or "")
    return any(target and fnmatchcase(target, pattern) for pattern in patterns for target in targets)
