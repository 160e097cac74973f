"""Rejects a run without any readable input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.errors import NothingReadable
from analyzer.model.run import RunDir

if TYPE_CHECKING:
    import polars as pl


def require_readable(run: RunDir, sources: pl.DataFrame) -> None:
    """Check that at least one source could be read and is not empty.

    Raises:
        NothingReadable: none could be, or all are empty.

    """
    opened = sources.filter(sources["read"] != "skipped")
    if not opened.height:
        reasons = sorted(set(sources["reason"].to_list()))
        count = len(run.sources)
        which = "nothing in it" if count == 1 else f"none of its {count} files"
        raise NothingReadable(f"{run.name}: {which} could be read ({'; '.join(reasons[:3])})")
    if not opened["bytes"].sum():
        raise NothingReadable(f"{run.name}: {_all_empty(opened.height, len(run.sources))}")


def _all_empty(opened: int, files: int) -> str:
    if opened < files:
        return f"of its {files} files, only {opened} could be read, and nothing is in them"
    return "the file is empty" if files == 1 else f"all {files} files are empty"
