"""Loads rules from YAML and evaluates them on tables; rules contain no code and nothing is `eval`ed."""

from analyzer.engine.loading.directories import why_no_rules, with_given_paths
from analyzer.engine.loading.installed_packs import installed_packs, load_with_packs
from analyzer.engine.loading.rule_cache import load_cached
from analyzer.engine.rule_types import Rule, RulePack

__all__ = [
    "Rule",
    "RulePack",
    "installed_packs",
    "load_cached",
    "load_with_packs",
    "why_no_rules",
    "with_given_paths",
]
