"""Relates findings: which explains which, and which contradict each other."""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase

from analyzer.model.findings import Finding, Outcome, Role

_LOOKS = ("peer.", "hang.")
"""Families of causes that say what a break looked like from outside."""


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
    """Return True if `cause` explains `effect`; mutual claims go to the one that takes precedence."""
    if cause.rule == effect.rule or cause.role is not Role.CAUSE or not _named(effect, cause.explains):
        return False
    return _goes_first(cause, effect) if _named(cause, effect.explains) else True


def _contradicts(finding: Finding, other: Finding) -> bool:
    """Return True if either rule excludes the other and `finding` takes precedence."""
    if finding.rule == other.rule:
        return False
    said = _named(other, finding.contradicts) or _named(finding, other.contradicts)
    return said and _goes_first(finding, other)


def precedence(finding: Finding) -> tuple[float, bool, int, float, str]:
    """Return the key that orders findings: the surest first.

    Of equally sure ones, a fault goes before what a break looked like, a named worker before an unnamed one,
    and the earlier evidence before the later.
    """
    unnamed = 0 if finding.culprits else 1 if finding.suspects else 2
    began = min((place.time for place in finding.evidence if place.time is not None), default=math.inf)
    return (-finding.confidence, (finding.cause or "").startswith(_LOOKS), unnamed, began, finding.rule)


def _goes_first(finding: Finding, other: Finding) -> bool:
    return precedence(finding) < precedence(other)


def _named(finding: Finding, patterns: Sequence[str]) -> bool:
    targets = (finding.rule, finding.cause or "")
    return any(target and fnmatchcase(target, pattern) for pattern in patterns for target in targets)
