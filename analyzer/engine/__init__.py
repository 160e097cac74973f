"""Rule files → rules; rule × tables → finding. A closed vocabulary: no Python in YAML, no eval."""

from analyzer.engine.evaluate import match
from analyzer.engine.kept import load_kept
from analyzer.engine.language import Rule, RulePack

__all__ = ["Rule", "RulePack", "load_kept", "match"]
