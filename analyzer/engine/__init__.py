"""Loads rules from YAML and evaluates them on tables; rules contain no code and nothing is `eval`ed."""

from analyzer.engine.rule_cache import load_kept
from analyzer.engine.rule_types import Rule, RulePack

__all__ = ["Rule", "RulePack", "load_kept"]
