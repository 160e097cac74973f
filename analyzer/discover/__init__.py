"""Finds the files of a run and assigns them to workers by name, without parsing them."""

from analyzer.discover.run_directory import discover, kind_of

__all__ = ["discover", "kind_of"]
