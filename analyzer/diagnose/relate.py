"""What explains what: findings that are the consequence of another one are marked so."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from analyzer.model import Finding, Outcome, Role


def relate(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with the rules whose findings explain it."""
    fired = [finding for finding in findings if finding.outcome is Outcome.FIRED]
    return [
        finding._replace(explained_by=tuple(other.rule for other in fired if _explains(other, finding)))
        if finding.outcome is Outcome.FIRED
        else finding
        for finding in findings
    ]


def _explains(cause: Finding, effect: Finding) -> bool:
    """Where two claim to explain each other, the surer one does; of equals, the first by name."""
    if cause.rule == effect.rule or cause.role is not Role.CAUSE or not _names(cause, effect):
        return False
    if _names(effect, cause):
        return (-cause.confidence, cause.rule) < (-effect.confidence, effect.rule)
    return True


def _names(cause: Finding, effect: Finding) -> bool:
    targets = (effect.rule, effect.cause or "")
    return any(target and fnmatchcase(target, pattern) for pattern in cause.explains for target in targets)
