"""Finds the files of a run and assigns them to workers by name, without parsing them."""

from analyzer.discover.installed_readers import installed_readers, reader_versions
from analyzer.discover.run_directory import OPENING_BYTES, discover, is_export, is_report, kind_of

__all__ = [
    "OPENING_BYTES",
    "discover",
    "installed_readers",
    "is_export",
    "is_report",
    "kind_of",
    "reader_versions",
]
