"""Reports gaps of the rules: causes without a rule, rules without a recording."""

import re

from analyzer.engine.language import Case, RulePack

_VERDICTS = frozenset({"healthy", "unknown"})
"""Entries of causes.yaml that are verdicts; no rule can name them."""

_RECORDED = re.compile(r"\brecorded run\b")


def causes_without_rule(pack: RulePack) -> list[str]:
    """Return the causes in causes.yaml that no rule names."""
    named = {rule.cause for rule in pack.rules}
    return [cause for cause in pack.causes if cause not in named | _VERDICTS]


def rules_without_recording(pack: RulePack) -> list[str]:
    """Return the rules without a firing case from a recorded run."""
    return [rule.id for rule in pack.rules if not any(is_recorded(case) for case in rule.cases if case.fires)]


def is_recorded(case: Case) -> bool:
    """Return True if a case names its recorded run, as `run` or in its origin."""
    return bool(case.run or _RECORDED.search(case.origin))
