"""Loads rules from YAML and evaluates them on tables. Closed vocabulary: no Python in YAML, no eval."""

from analyzer.engine.rule_cache import load_kept
from analyzer.engine.rule_types import Rule, RulePack

__all__ = ["Rule", "RulePack", "load_kept"]
