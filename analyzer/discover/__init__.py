"""Finds the files of a run and assigns them to workers by name, without parsing them."""

from analyzer.discover.installed_readers import installed_readers, reader_versions
from analyzer.discover.run_directory import discover, kind_of

__all__ = ["discover", "installed_readers", "kind_of", "reader_versions"]
