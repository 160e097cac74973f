"""Rule files → rules; rule × tables → finding. A closed vocabulary: no Python in YAML, no eval."""

from analyzer.engine.language import Rule, RulePack
from analyzer.engine.loaded import load_kept

__all__ = ["Rule", "RulePack", "load_kept"]
