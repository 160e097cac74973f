"""A path → RunDir: every file of a run named and assigned to a worker, none parsed."""

from analyzer.discover.run_directory import discover, kind_of

__all__ = ["discover", "kind_of"]
