"""Rule files → rules; rule × tables → finding. A closed vocabulary: no Python in YAML, no eval."""

from analyzer.engine.language import Rule, RulePack
from analyzer.engine.rule_cache import load_kept

__all__ = ["Rule", "RulePack", "load_kept"]
